/**
 * Cursor pages, newest first. Decisions, section 4.
 * A cursor is the place of the last row seen; callers pass it back and read nothing into it.
 */
import { z } from "zod";
import { queryInteger } from "@/lib/http/fields.ts";

export interface PageCursor {
  /** ISO 8601 with microseconds: two rows may share a millisecond. */
  readonly at: string;
  readonly id: string;
}

export interface PageRequest {
  readonly limit: number;
  readonly cursor?: PageCursor | undefined;
}

export const pageQuery = z.object({
  limit: queryInteger({ min: 1, max: 100, default: 20 }),
  cursor: z
    .string()
    .transform((text, context): PageCursor => {
      const cursor = decodeCursor(text);
      if (cursor) return cursor;
      context.addIssue({ code: "custom", message: "cursor is invalid" });
      return z.NEVER;
    })
    .optional()
    .meta({ override: { type: "string", description: "`next_cursor` of the page before" } }),
});

/** From the database's `<date> <id>` to what a caller gets. */
export function encodeCursor(place: string): string {
  return Buffer.from(place, "latin1").toString("base64url");
}

function decodeCursor(text: string): PageCursor | null {
  const place = Buffer.from(text, "base64url").toString("latin1");
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{6}Z) ([0-9a-f-]{36})$/.exec(place);
  const [, seconds = "", fraction = "", id = ""] = match ?? [];
  const at = new Date(`${seconds}Z`);
  // A date that does not exist (30 February) must not reach the database.
  if (Number.isNaN(at.getTime()) || at.toISOString().slice(0, 19) !== seconds) return null;
  return z.guid().safeParse(id).success ? { at: `${seconds}${fraction}`, id } : null;
}

/** `link` to the next page (RFC 8288), or no header on the last one. */
export function linkHeader(
  path: string,
  limit: number,
  nextCursor: string | null,
): Record<string, string> {
  if (nextCursor === null) return {};
  const query = new URLSearchParams({ limit: String(limit), cursor: nextCursor });
  return { link: `<${path}?${query}>; rel="next"` };
}
