"use client";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { cn } from "./class-names.ts";
import { tabBarStyle, tabStyle } from "./tab-style.ts";

/** Tabs whose panels are pages of their own. */
export function LinkTabs({
  label,
  tabs,
}: {
  readonly label: string;
  readonly tabs: readonly { readonly href: string; readonly label: string }[];
}) {
  const path = usePathname();
  return (
    <nav aria-label={label} className={tabBarStyle}>
      {tabs.map((tab) => (
        <Link
          key={tab.href}
          href={tab.href}
          prefetch={false}
          aria-current={tab.href === path ? "page" : undefined}
          className={cn(tabStyle, tab.href === path && "border-foreground text-foreground")}
        >
          {tab.label}
        </Link>
      ))}
    </nav>
  );
}
