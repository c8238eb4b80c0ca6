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
  /** Whether the items are those of the path before, until those of this one are loaded. */
  readonly isPrevious: boolean;
  readonly hasMore: boolean;
  /** Loads the next page, or retries the page that failed. */
  readonly loadMore: () => void;
  /** Loads all pages again that are shown. */
  readonly refresh: () => void;
}

interface Page {
  readonly next_cursor: string | null;
}

/**
 * Reads a list of the API page by page. A different `path` is another list.
 * @param path with the filters of the list, such as `/api/chat/runs?status=failed`
 * @param name the field of the response that has the items
 * @param poll returns after how many milliseconds the list is read again
 * @param keepsPrevious shows the list before until this one is loaded
 */
export function usePages<T>(
  path: string | null,
  name: string,
  poll: (items: readonly T[]) => number | false = () => false,
  keepsPrevious = false,
): Pages<T> {
  const itemsIn = (pages: readonly Page[] = []) =>
    pages.flatMap((page) => (page as Page & Record<string, readonly T[]>)[name] ?? []);
  const query = useInfiniteQuery({
    queryKey: [...keyOf(path ?? ""), "pages"],
    queryFn: ({ pageParam, signal }) => {
      const address = new URL(path ?? "", location.origin);
      if (!address.searchParams.has("limit")) address.searchParams.set("limit", "25");
      if (pageParam !== null) address.searchParams.set("cursor", pageParam);
      return read<Page>(address.pathname + address.search, signal);
    },
    enabled: path !== null,
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepsPrevious ? keepPreviousData : undefined,
    refetchInterval: ({ state }) => poll(itemsIn(state.data?.pages)),
  });
  const { data, error, isFetching, hasNextPage, fetchNextPage, refetch } = query;
  const pages = data?.pages;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the items are those of the pages
  const items = useMemo(() => pages && itemsIn(pages), [pages]);
  const refresh = useCallback(() => void refetch(), [refetch]);
  return {
    items,
    error,
    loading: isFetching,
    isLoadingMore: query.isFetchingNextPage,
    isPrevious: query.isPlaceholderData,
    hasMore: hasNextPage,
    loadMore: useCallback(
      () => void (hasNextPage ? fetchNextPage() : refetch()),
      [hasNextPage, fetchNextPage, refetch],
    ),
    refresh,
  };
}
