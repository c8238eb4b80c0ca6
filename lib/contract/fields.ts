/** Schemas that many contracts share. */
import { z } from "zod";

/** Any RFC 4122 text form, any version; given back in lower case. */
export const uuid = z.guid().toLowerCase();

/** ISO 8601 in UTC, in responses. */
export const dateTime = z.iso.datetime();

/** An integer in a query string. */
export function queryInteger(range: { min: number; max?: number; default: number }) {
  const { min, max, default: fallback } = range;
  const bounded = max === undefined ? z.int().min(min) : z.int().min(min).max(max);
  return z
    .string()
    .transform((text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text))
    .pipe(bounded)
    .optional()
    .transform((value) => value ?? fallback)
    .meta({
      override: {
        type: "integer",
        minimum: min,
        ...(max === undefined ? {} : { maximum: max }),
        default: fallback,
      },
    });
}
