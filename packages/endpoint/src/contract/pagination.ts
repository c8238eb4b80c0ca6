/**
 * Cursor pagination, newest first: the query parameters, the arguments of the SQL functions, and the
 * cursor of a page. A cursor encodes the position of the last row of a page and is opaque to callers.
 */
import { z } from "zod";
import { queryInteger } from "./fields.ts";

export interface PageCursor {
  /** ISO 8601 with microseconds, because two rows may share a millisecond. */
  readonly at: string;
  readonly id: string;
}

export interface PageRequest {
  readonly limit: number;
  readonly cursor?: PageCursor | undefined;
}

export const pageQuery = z.object({
  limit: queryInteger({ min: 1, max: 100, default: 20 }).describe("Items per page"),
  cursor: z
    .string()
    .transform((text, context): PageCursor => {
      const cursor = decodeCursor(text);
      if (cursor) return cursor;
      context.addIssue({ code: "custom", message: "cursor is invalid" });
      return z.NEVER;
    })
    .optional()
    .meta({ description: "`next_cursor` of the page before", override: { type: "string" } }),
});

/** The schema of a page's `next_cursor`. */
export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: "For `cursor` of the next page; null on the last one" });

/** Returns the response of a list. @param schema of the body, which has `next_cursor` */
export const listResponse = <S extends z.ZodType>(schema: S) => {
  const description = "One page; `link` has the URL of the next one";
  return { 200: { description, headers: ["link"], schema } } as const;
};

/** Returns the response of a list, whose items are under `name`. */
export function pageResponse<const N extends string, S extends z.ZodType>(name: N, item: S) {
  const items = { [name]: z.array(item) } as Record<N, z.ZodArray<S>>;
  const status = z.literal("success");
  return listResponse(z.object({ status, ...items, next_cursor: nextCursor }));
}

/** The cursor of the first page: newer than every row. */
const BEFORE_FIRST = { at: "9999-12-31T23:59:59Z", id: "ffffffff-ffff-ffff-ffff-ffffffffffff" };

/** Returns the arguments of a SQL function that reads a page. */
export function pageArguments({ limit, cursor }: PageRequest) {
  const { at, id } = cursor ?? BEFORE_FIRST;
  return { limit, afterAt: at, afterId: id };
}

export interface Page<T> {
  readonly items: T[];
  readonly nextCursor: string | null;
}

const place = z.looseObject({ created_at: z.string(), id: z.string() });

/** Returns the schema of a page's rows, newest first, with one more row if there is another page. */
export const pageOf = <S extends z.ZodType>(item: S, { limit }: PageRequest) =>
  z.array(place).transform((rows): Page<z.output<S>> => {
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    const items = z.array(item).parse(rows.slice(0, limit));
    return { items, nextCursor: last ? encodeCursor(last) : null };
  });

/** Yields the items of all pages. */
export async function* everyItem<T>(
  load: (page: PageRequest) => Promise<Page<T>>,
): AsyncGenerator<T> {
  for (let cursor: string | undefined | null; cursor !== null; ) {
    const { items, nextCursor }: Page<T> = await load(pageQuery.parse({ limit: "100", cursor }));
    yield* items;
    cursor = nextCursor;
  }
}

function encodeCursor({ created_at, id }: z.output<typeof place>): string {
  const seconds = new Date(created_at).toISOString().slice(0, 19);
  const microseconds = (/\.(\d+)/.exec(created_at)?.[1] ?? "").padEnd(6, "0");
  return Buffer.from(`${seconds}.${microseconds}Z ${id}`, "latin1").toString("base64url");
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
