import type { Metadata } from "next";
import type { ReactNode } from "react";
import { LinkTabs } from "../_ui/link-tabs.tsx";
import { Page, PageHeader } from "../_ui/page-header.tsx";
import { settingsTabs } from "./settings-tabs.ts";

export const metadata: Metadata = { title: "Settings" };

export default function SettingsLayout({ children }: { readonly children: ReactNode }) {
  return (
    <Page>
      <PageHeader title="Settings" />
      <LinkTabs label="Settings" tabs={settingsTabs} />
      <div className="flex flex-col gap-6 pt-6">{children}</div>
    </Page>
  );
}
