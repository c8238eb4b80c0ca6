/** The pages of the settings, each at `app/(console)/settings/<name>/page.tsx`. */
export const settingsTabs = [
  { href: "/settings", label: "Account" },
  { href: "/settings/organizations", label: "Organizations" },
  { href: "/settings/notifications", label: "Notifications" },
] as const;
