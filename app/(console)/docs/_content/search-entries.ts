import type { SearchEntry } from "./search-index.ts";

const MAX_RESULTS = 12;

/** Returns the entries that have all words of a query, those first that have them in their title. */
export function searchEntries(index: readonly SearchEntry[], query: string): SearchEntry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const hasAll = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const inTitle = index.filter(({ title }) => hasAll(title));
  const elsewhere = index.filter(
    ({ title, place }) => !hasAll(title) && hasAll(`${title} ${place}`),
  );
  return [...inTitle, ...elsewhere].slice(0, MAX_RESULTS);
}
