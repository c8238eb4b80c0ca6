"use client";
import { usePathname } from "next/navigation";
import { useState } from "react";
import { cn } from "../../_ui/class-names.ts";
import { Input } from "../../_ui/form.tsx";
import { ChevronDown } from "../../_ui/icons.tsx";
import { Link } from "../../_ui/link.tsx";
import type { PageLink } from "../prose.tsx";
import type { SearchEntry } from "./documents.ts";

interface DocsNavigationProps {
  readonly groups: readonly { readonly title: string; readonly links: readonly PageLink[] }[];
  readonly index: readonly SearchEntry[];
}

/** The search and the list of all pages; on small screens the list opens on request. */
export function DocsNavigation({ groups, index }: DocsNavigationProps) {
  const path = usePathname();
  const [openedOn, setOpenedOn] = useState<string | null>(null);
  // Following a link closes the list.
  const isOpen = openedOn === path;
  const current = groups.flatMap(({ links }) => links).find(({ href }) => href === path);
  return (
    <div className="flex shrink-0 flex-col gap-3 lg:sticky lg:top-0 lg:max-h-dvh lg:w-56 lg:overflow-y-auto lg:py-8 lg:pr-2 lg:pl-1">
      <DocsSearch index={index} />
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls="docs-pages"
        onClick={() => setOpenedOn(isOpen ? null : path)}
        className="flex h-9 items-center justify-between rounded-md border px-3 lg:hidden"
      >
        <span>
          <span className="sr-only">All pages. This one: </span>
          {current?.title ?? "Overview"}
        </span>
        <ChevronDown aria-hidden className={cn("size-4", isOpen && "rotate-180")} />
      </button>
      <nav
        id="docs-pages"
        aria-label="Documentation"
        className={cn("flex-col gap-4 text-sm lg:flex", isOpen ? "flex" : "hidden")}
      >
        {groups.map(({ title, links }) => (
          <div key={title}>
            <p className="px-2 pb-1 text-xs font-medium text-muted-foreground">{title}</p>
            <ul>
              {links.map(({ href, title: name }) => (
                <li key={href}>
                  <Link
                    href={href}
                    aria-current={href === path ? "page" : undefined}
                    className="flex min-h-7 items-center rounded-md px-2 py-0.5 text-muted-foreground hover:bg-hover hover:text-foreground aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent-text"
                  >
                    {name}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
    </div>
  );
}

/** Finds headings and endpoints while one types. */
function DocsSearch({ index }: { readonly index: readonly SearchEntry[] }) {
  const [query, setQuery] = useState("");
  const found = searchEntries(index, query);
  const clear = () => setQuery("");
  return (
    <search className="relative">
      <Input
        type="search"
        aria-label="Search the documentation"
        placeholder="Search docs"
        value={query}
        onChange={setQuery}
        onKeyDown={(event) => {
          if (event.key === "Escape") clear();
        }}
      />
      <p role="status" className="sr-only">
        {query.trim() === "" ? "" : `${found.length} results`}
      </p>
      {query.trim() !== "" && (
        <ul
          aria-label="Results"
          className="mt-2 max-h-96 overflow-y-auto rounded-lg border bg-surface p-1 shadow-lg lg:fixed lg:z-20 lg:w-96"
        >
          {found.map(({ title, place, href }) => (
            <li key={href}>
              <Link
                href={href}
                onClick={clear}
                className="block rounded-md px-2.5 py-1.5 hover:bg-hover"
              >
                <span className="block truncate">{title}</span>
                <span className="block truncate text-xs text-muted-foreground">{place}</span>
              </Link>
            </li>
          ))}
          {found.length === 0 && (
            <li className="px-2.5 py-2 text-muted-foreground">Nothing found.</li>
          )}
        </ul>
      )}
    </search>
  );
}

const MAX_RESULTS = 12;

/** Returns the entries that have all words of a query, those first that have them in their title. */
function searchEntries(index: readonly SearchEntry[], query: string): SearchEntry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const hasAll = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const inTitle = index.filter(({ title }) => hasAll(title));
  const elsewhere = index.filter(
    ({ title, place }) => !hasAll(title) && hasAll(`${title} ${place}`),
  );
  return [...inTitle, ...elsewhere].slice(0, MAX_RESULTS);
}
