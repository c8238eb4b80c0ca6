/** Builds the responses of endpoints from the results of their use cases. */
import { type AppError, isAppError } from "./contract/app-error.ts";
import type { Page, PageRequest } from "./contract/pagination.ts";

/** Resolves to the error of a use case, or to the success that `describe` returns for its value. */
export async function answer<V, const S>(
  result: Promise<V | AppError>,
  describe: (value: V) => S | Promise<S>,
): Promise<S | AppError> {
  const value = await result;
  return isAppError(value) ? value : describe(value);
}

/** Answers with a success whose body has these fields. */
export const success = <const F extends object>(fields: F) =>
  ({ body: { status: "success", ...fields } }) as const;

/** Answers a creation, like `success`. */
export const created = <const F extends object>(fields: F) =>
  ({ status: 201, ...success(fields) }) as const;

/** Answers a deletion that has succeeded. */
export const done = () => success({});

/** Responds with a text that is JSON already. */
export const jsonText = (text: string | ReadableStream<Uint8Array>): Response =>
  new Response(text, { headers: { "content-type": "application/json" } });

/** The page that was asked for, with the filters of the list. */
type ListQuery = PageRequest & { readonly [filter: string]: unknown };

/** Returns one page of a list, with a `link` to the next one (RFC 8288) unless it is the last. */
export function pageOf<const B extends object>(
  path: string,
  { limit, cursor: _, ...filters }: ListQuery,
  nextCursor: string | null,
  body: B,
) {
  const next = new URLSearchParams({ limit: String(limit), cursor: nextCursor ?? "" });
  for (const [name, value] of Object.entries(filters)) {
    if (value !== undefined) next.set(name, String(value));
  }
  const headers: Record<string, string> =
    nextCursor === null ? {} : { link: `<${path}?${next}>; rel="next"` };
  return { body: { ...body, next_cursor: nextCursor }, headers };
}

/** Returns one page with its items under `name`. */
export function listOf<const N extends string, T>(
  path: string,
  query: ListQuery,
  name: N,
  { items, nextCursor }: Page<T>,
) {
  const listed = { [name]: items } as Record<N, T[]>;
  return pageOf(path, query, nextCursor, { status: "success", ...listed });
}
