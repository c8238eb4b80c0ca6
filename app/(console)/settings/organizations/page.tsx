import type { Metadata } from "next";
import { Organizations } from "./organizations.tsx";

export const metadata: Metadata = { title: "Organizations" };

export default function OrganizationsPage() {
  return <Organizations />;
}
