import { type ClassValue, clsx } from "clsx";
import { extendTailwindMerge } from "tailwind-merge";

const merge = extendTailwindMerge({});

/** Joins class names. Of two Tailwind classes for the same property, the later one wins. */
export function cn(...values: readonly ClassValue[]): string {
  const lists = values.filter(Boolean);
  // One list has nothing to win over, and the first merge of a page is slow.
  return lists.length > 1 ? merge(clsx(lists)) : clsx(lists);
}
