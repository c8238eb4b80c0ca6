import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Page } from "../_ui/page-header.tsx";
import { LinkTabs } from "../_ui/tabs.tsx";

export const metadata: Metadata = { title: "Settings" };

export default function SettingsLayout({ children }: { readonly children: ReactNode }) {
  return (
    <Page title="Settings">
      <LinkTabs label="Settings" tabs={settingsTabs} />
      <div className="flex flex-col gap-6 pt-6">{children}</div>
    </Page>
  );
}

/** The pages of the settings, each at `app/(console)/settings/<name>/page.tsx`. */
export const settingsTabs = [
  { href: "/settings", label: "Account" },
  { href: "/settings/organizations", label: "Organizations" },
  { href: "/settings/mcp-servers", label: "MCP servers" },
  { href: "/settings/notifications", label: "Notifications" },
] as const;
