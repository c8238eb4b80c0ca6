"use client";
import { usePathname } from "next/navigation";
import { Tabs as Base } from "radix-ui";
import type { ComponentProps } from "react";
import { cn } from "./class-names.ts";
import { Link } from "./link.tsx";

export const Tabs = Base.Root;

export const TabsList = ({ className, ...rest }: ComponentProps<typeof Base.List>) => (
  <Base.List {...rest} className={cn(tabBarStyle, className)} />
);

export const TabsTrigger = (props: ComponentProps<typeof Base.Trigger>) => (
  <Base.Trigger
    {...props}
    className={`${tabStyle} data-[state=active]:border-foreground data-[state=active]:text-foreground`}
  />
);

export const TabsContent = ({ className, ...rest }: ComponentProps<typeof Base.Content>) => (
  <Base.Content {...rest} className={cn("pt-4", className)} />
);

/**
 * A bar of tabs. It can be scrolled on a narrow screen, without a scrollbar: the tab at the edge is cut
 * off, which shows that there are more.
 */
const tabBarStyle = "flex gap-1 overflow-x-auto overflow-y-hidden border-b [scrollbar-width:none]";

const tabStyle =
  "-mb-px shrink-0 border-b-2 border-transparent px-3 py-2 font-medium whitespace-nowrap text-muted-foreground hover:text-foreground focus-visible:-outline-offset-2";

const scrollIntoView = (tab: Element | null) => tab?.scrollIntoView({ block: "nearest" });

type LinkTabsProps = Readonly<{ label: string; tabs: readonly Record<"href" | "label", string>[] }>;

/** Tabs whose panels are separate pages, and current for the pages below them, too. */
export function LinkTabs({ label, tabs }: LinkTabsProps) {
  const path = usePathname();
  const above = tabs.filter(({ href }) => `${path}/`.startsWith(`${href}/`));
  // "/settings" is the parent of all its pages.
  const current = above.toSorted((a, b) => a.href.length - b.href.length).at(-1);
  return (
    <nav aria-label={label} className={tabBarStyle}>
      {tabs.map((tab) => (
        <Link
          key={tab.href}
          href={tab.href}
          ref={tab === current ? scrollIntoView : null}
          aria-current={tab !== current ? undefined : tab.href === path ? "page" : true}
          className={cn(tabStyle, tab === current && "border-foreground text-foreground")}
        >
          {tab.label}
        </Link>
      ))}
    </nav>
  );
}
