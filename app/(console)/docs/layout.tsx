import type { ReactNode } from "react";
import { DocsNavigation } from "./_content/docs-navigation.tsx";
import { searchIndex } from "./_content/documents.ts";
import { addressOfPage, addressOfTag, groups } from "./_content/pages.ts";
import { describeReference } from "./_content/reference.ts";

const links = [
  { title: "Documentation", links: [{ href: "/docs", title: "Overview" }] },
  ...groups.map(({ title, pages }) => ({
    title,
    links: pages.map((page) => ({ href: addressOfPage(page), title: page.title })),
  })),
  {
    title: "API reference",
    links: [
      { href: "/docs/reference", title: "All endpoints" },
      ...describeReference().map(({ tag }) => ({ href: addressOfTag(tag), title: tag })),
    ],
  },
];

export default function DocsLayout({ children }: { readonly children: ReactNode }) {
  return (
    <div className="mx-auto flex w-full max-w-7xl flex-col gap-6 px-4 py-6 sm:px-8 lg:flex-row lg:gap-10 lg:py-0">
      <DocsNavigation groups={links} index={searchIndex()} />
      <div className="min-w-0 flex-1 lg:py-8">{children}</div>
    </div>
  );
}
