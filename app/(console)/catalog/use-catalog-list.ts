import { useInfiniteQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { type ApiError, read } from "../_api/request.ts";
import { keyOf } from "../_hooks/use-query.ts";

interface Part<T> {
  readonly items: readonly T[];
  readonly total: number;
  readonly offset: number;
  readonly limit: number;
}

export interface CatalogList<T> {
  /** The items loaded so far; undefined until the first page is loaded. */
  readonly items: readonly T[] | undefined;
  readonly total: number;
  readonly hasMore: boolean;
  readonly loading: boolean;
  readonly error: ApiError | null;
  /** Loads the next page, or retries the page that failed. */
  readonly loadMore: () => void;
}

/**
 * Reads a list of the catalog, whose pages go by offset. `path` has a query; null reads nothing.
 * @param pick returns the list of a response
 */
export function useCatalogList<B, T>(
  path: string | null,
  pick: (body: B) => Part<T> | undefined,
): CatalogList<T> {
  const { data, error, isFetching, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: [...keyOf(path ?? ""), "pages"],
    queryFn: ({ pageParam, signal }) => read<B>(`${path}&offset=${pageParam}`, signal),
    enabled: path !== null,
    initialPageParam: 0,
    getNextPageParam: (body) => {
      const part = pick(body);
      const next = part ? part.offset + part.limit : 0;
      return part && next < part.total ? next : null;
    },
  });
  const parts = data?.pages.flatMap((body) => pick(body) ?? []);
  return {
    items: parts?.length ? parts.flatMap(({ items }) => items) : undefined,
    total: parts?.at(-1)?.total ?? 0,
    hasMore: hasNextPage,
    loading: isFetching,
    error,
    loadMore: useCallback(
      () => void (hasNextPage ? fetchNextPage() : refetch()),
      [hasNextPage, fetchNextPage, refetch],
    ),
  };
}
