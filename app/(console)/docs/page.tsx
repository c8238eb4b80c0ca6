import type { Metadata } from "next";
import { Page, PageHeader } from "../_ui/page-header.tsx";

export const metadata: Metadata = { title: "API reference" };

export default function DocsPage() {
  return (
    <Page>
      <PageHeader title="API reference" />
    </Page>
  );
}
