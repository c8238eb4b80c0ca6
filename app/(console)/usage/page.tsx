import type { Metadata } from "next";
import { UsagePage } from "./usage-page.tsx";

export const metadata: Metadata = { title: "Usage" };

export default function Usage() {
  return <UsagePage />;
}
