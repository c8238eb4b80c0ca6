import { type ClassValue, clsx } from "clsx";
import { extendTailwindMerge } from "tailwind-merge";

const merge = extendTailwindMerge({});

/** Joins class names; of two that say different things about one property the later wins. */
export const cn = (...values: ClassValue[]): string => merge(clsx(values));
