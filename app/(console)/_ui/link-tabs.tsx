"use client";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { cn } from "./class-names.ts";
import { tabBarStyle, tabStyle } from "./tab-style.ts";

/** Tabs whose panels are pages of their own, and current for the pages below them, too. */
export function LinkTabs({
  label,
  tabs,
}: {
  readonly label: string;
  readonly tabs: readonly { readonly href: string; readonly label: string }[];
}) {
  const path = usePathname();
  const above = tabs.filter(({ href }) => `${path}/`.startsWith(`${href}/`));
  // "/settings" stands above all of its pages.
  const current = above.toSorted((a, b) => a.href.length - b.href.length).at(-1);
  return (
    <nav aria-label={label} className={tabBarStyle}>
      {tabs.map((tab) => (
        <Link
          key={tab.href}
          href={tab.href}
          prefetch={false}
          aria-current={tab !== current ? undefined : tab.href === path ? "page" : true}
          className={cn(tabStyle, tab === current && "border-foreground text-foreground")}
        >
          {tab.label}
        </Link>
      ))}
    </nav>
  );
}
