import type { Metadata } from "next";
import { Page, PageHeader } from "../_ui/page-header.tsx";

export const metadata: Metadata = { title: "Connectors" };

export default function ConnectorsPage() {
  return (
    <Page>
      <PageHeader title="Connectors" />
    </Page>
  );
}
