"use client";
import Link from "next/link";
import { useState } from "react";
import { searchEntries } from "@/app/(console)/docs/_content/search-entries.ts";
import { Input } from "../../_ui/input.tsx";
import type { SearchEntry } from "./search-index.ts";

/** Finds headings and endpoints while one types. */
export function DocsSearch({ index }: { readonly index: readonly SearchEntry[] }) {
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
        onChange={(event) => setQuery(event.target.value)}
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
                prefetch={false}
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
