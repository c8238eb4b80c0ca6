import type { Metadata } from "next";
import { referenceScript } from "@/lib/openapi/serve-reference.ts";
import { Reference } from "./reference.tsx";

export const metadata: Metadata = { title: "API reference" };

export default function DocsPage() {
  return <Reference script={referenceScript} />;
}
