import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { type ApiError, read } from "../_api/request.ts";
import { keyOf } from "./use-query.ts";

export interface Pages<T> {
  /** The items loaded so far, in the order of the API; undefined until the first page is loaded. */
  readonly items: readonly T[] | undefined;
  readonly error: ApiError | null;
  readonly loading: boolean;
  readonly isLoadingMore: boolean;
  /** Whether the items still belong to the previous path, because those for this one are loading. */
  readonly isPrevious: boolean;
  readonly hasMore: boolean;
  /** Loads the next page, or retries the page that failed. */
  readonly loadMore: () => void;
  /** Reads all loaded pages again. */
  readonly refresh: () => Promise<unknown>;
}

interface Reading<B, T> {
  /** Returns the address of a page; null stands for the first. */
  readonly addressOf: (cursor: string | null) => string;
  readonly itemsIn: (body: B) => readonly T[];
  readonly nextOf: (body: B) => string | null;
  /** Returns after how many milliseconds the list is read again. */
  readonly poll?: ((items: readonly T[]) => number | false) | undefined;
  /** Shows the list before until this one is loaded. */
  readonly keepsPrevious?: boolean;
}

/** Reads a list page by page, and returns the responses as well. A different `path` is another list. */
export function useInfinitePages<B, T>(
  path: string | null,
  { addressOf, itemsIn, nextOf, poll, keepsPrevious }: Reading<B, T>,
): Pages<T> & { readonly bodies: readonly B[] } {
  const query = useInfiniteQuery({
    queryKey: [...keyOf(path ?? ""), "pages"],
    queryFn: ({ pageParam, signal }) => read<B>(addressOf(pageParam), signal),
    enabled: path !== null,
    initialPageParam: null as string | null,
    getNextPageParam: nextOf,
    placeholderData: keepsPrevious ? keepPreviousData : undefined,
    refetchInterval: ({ state }) => poll?.(state.data?.pages.flatMap(itemsIn) ?? []) ?? false,
  });
  const { data, error, isFetching, hasNextPage, fetchNextPage, refetch } = query;
  const bodies = data?.pages;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the items are those of the responses
  const items = useMemo(() => bodies?.flatMap(itemsIn), [bodies]);
  return {
    ...{ items, error, bodies: bodies ?? [] },
    loading: isFetching,
    isLoadingMore: query.isFetchingNextPage,
    isPrevious: query.isPlaceholderData,
    hasMore: hasNextPage,
    loadMore: useCallback(
      () => void (hasNextPage ? fetchNextPage() : refetch()),
      [hasNextPage, fetchNextPage, refetch],
    ),
    refresh: refetch,
  };
}

type Page<T> = { readonly next_cursor: string | null } & Readonly<Record<string, readonly T[]>>;

/**
 * Reads a list of the API page by page.
 * @param path with the filters of the list, such as `/api/chat/runs?status=failed`
 * @param name the field of the response that has the items
 */
export function usePages<T>(
  path: string | null,
  name: string,
  poll?: Reading<Page<T>, T>["poll"],
  keepsPrevious = false,
): Pages<T> {
  return useInfinitePages<Page<T>, T>(path, {
    ...{ poll, keepsPrevious },
    addressOf: (cursor) => {
      const address = new URL(path ?? "", location.origin);
      if (!address.searchParams.has("limit")) address.searchParams.set("limit", "25");
      if (cursor !== null) address.searchParams.set("cursor", cursor);
      return address.pathname + address.search;
    },
    itemsIn: (body) => body[name] ?? [],
    nextOf: (body) => body.next_cursor,
  });
}
