"use client";
import Link from "next/link";
import { useState } from "react";
import { Input } from "../../_ui/form.tsx";
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
