import { useInfinitePages } from "../_hooks/use-pages.ts";

interface Part<T> {
  readonly items: readonly T[];
  readonly total: number;
  readonly offset: number;
  readonly limit: number;
}

/**
 * Reads a list of the catalog, whose pages go by offset. `path` has a query.
 * @param pick returns the list of a response
 */
export function useCatalogList<B, T>(path: string, pick: (body: B) => Part<T> | undefined) {
  const pages = useInfinitePages<B, T>(path, {
    addressOf: (offset) => `${path}&offset=${offset ?? 0}`,
    itemsIn: (body) => pick(body)?.items ?? [],
    nextOf: (body) => {
      const { offset, limit, total } = pick(body) ?? { offset: 0, limit: 0, total: 0 };
      return offset + limit < total ? String(offset + limit) : null;
    },
  });
  const last = pages.bodies.at(-1);
  return { ...pages, total: (last && pick(last)?.total) ?? 0 };
}
