import type { Metadata } from "next";
import { TemplatesPage } from "./templates-page.tsx";

export const metadata: Metadata = { title: "Templates" };

export default function Templates() {
  return <TemplatesPage />;
}
