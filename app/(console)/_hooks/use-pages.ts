import { useCallback, useEffect, useRef, useState } from "react";
import { type ApiError, api } from "../_api/request.ts";

export interface Pages<T> {
  /** The items loaded so far, in the order of the API; undefined until the first page is loaded. */
  readonly items: readonly T[] | undefined;
  readonly error: ApiError | null;
  readonly loading: boolean;
  readonly hasMore: boolean;
  /** Loads the next page, or retries the page that failed. */
  readonly loadMore: () => void;
  /** Loads the newest items again, at most 100, and keeps those that follow them. */
  readonly refresh: () => void;
}

interface Loaded<T> {
  readonly path: string;
  readonly items: readonly T[];
  readonly cursor: string | null;
}

const PAGE_SIZE = 25;
const MAX_PAGE_SIZE = 100;

/**
 * Loads a list of the API page by page. A different `path` begins a new list.
 * @param path with the filters of the list, such as `/api/chat/runs?status=failed`
 * @param name the field of the response that has the items
 */
export function usePages<T>(path: string, name: string, idOf: (item: T) => string): Pages<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>();
  const [error, setError] = useState<ApiError | null>(null);
  const [loading, setLoading] = useState(true);
  const controller = useRef<AbortController | null>(null);
  const latest = useRef({ name, idOf });
  latest.current = { name, idOf };
  const current = loaded?.path === path ? loaded : undefined;

  const load = useCallback(
    async (limit: number, cursor: string | null) => {
      controller.current?.abort();
      controller.current = new AbortController();
      const { signal } = controller.current;
      setLoading(true);
      const query = new URLSearchParams({ limit: String(limit), ...(cursor && { cursor }) });
      const url = `${path}${path.includes("?") ? "&" : "?"}${query}`;
      const result = await api<Record<string, unknown>>(url, { signal });
      if (signal.aborted) return;
      setLoading(false);
      setError(result.ok ? null : result.error);
      if (!result.ok) return;
      const page = {
        path,
        items: result.data[latest.current.name] as readonly T[],
        cursor: result.data.next_cursor as string | null,
      };
      setLoaded((old) => {
        if (old?.path !== path) return page;
        return cursor === null
          ? withFollowing(page, old, latest.current.idOf)
          : { ...page, items: [...old.items, ...page.items] };
      });
    },
    [path],
  );

  useEffect(() => {
    void load(PAGE_SIZE, null);
    return () => controller.current?.abort();
  }, [load]);

  const count = current?.items.length ?? 0;
  return {
    items: current?.items,
    error,
    loading,
    hasMore: current !== undefined && current.cursor !== null,
    loadMore: () => void load(PAGE_SIZE, current?.cursor ?? null),
    refresh: () => void load(Math.min(Math.max(count, PAGE_SIZE), MAX_PAGE_SIZE), null),
  };
}

/** Joins newly loaded items to those that were loaded after them; without a common item they are all there is. */
function withFollowing<T>(fresh: Loaded<T>, old: Loaded<T>, idOf: (item: T) => string): Loaded<T> {
  const last = fresh.items.at(-1);
  if (fresh.cursor === null || last === undefined) return fresh;
  const place = old.items.findIndex((item) => idOf(item) === idOf(last));
  if (place < 0) return fresh;
  const following = old.items.slice(place + 1);
  if (following.length === 0) return fresh;
  return { ...fresh, items: [...fresh.items, ...following], cursor: old.cursor };
}
