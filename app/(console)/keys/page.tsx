import type { Metadata } from "next";
import { Page, PageHeader } from "../_ui/page-header.tsx";

export const metadata: Metadata = { title: "API keys" };

export default function KeysPage() {
  return (
    <Page>
      <PageHeader title="API keys" />
    </Page>
  );
}
