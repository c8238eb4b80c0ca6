import { type ClassValue, clsx } from "clsx";
import { extendTailwindMerge } from "tailwind-merge";

const merge = extendTailwindMerge({});

/** Joins class names. Of two Tailwind classes for the same property, the later one wins. */
export const cn = (...values: ClassValue[]): string => merge(clsx(values));
