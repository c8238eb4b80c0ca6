import { useCallback, useEffect, useRef, useState } from "react";
import { type ApiError, api } from "../_api/request.ts";

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
 * Loads a list of the catalog, whose pages go by offset. `path` has a query; null loads nothing.
 * @param pick returns the list of a response; it must be the same function at every call
 */
export function useCatalogList<B, T>(
  path: string | null,
  pick: (body: B) => Part<T> | undefined,
): CatalogList<T> {
  const [loaded, setLoaded] = useState<{ path: string; part: Part<T> } | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [loading, setLoading] = useState(path !== null);
  const controller = useRef<AbortController | null>(null);

  const load = useCallback(
    async (before: Part<T> | null) => {
      controller.current?.abort();
      if (path === null) return;
      controller.current = new AbortController();
      const { signal } = controller.current;
      setLoading(true);
      setError(null);
      const offset = before === null ? 0 : before.offset + before.limit;
      const result = await api<B>(`${path}&offset=${offset}`, { signal });
      if (signal.aborted) return;
      setLoading(false);
      setError(result.ok ? null : result.error);
      const part = result.ok ? pick(result.data) : undefined;
      if (part === undefined) return;
      setLoaded({ path, part: { ...part, items: [...(before?.items ?? []), ...part.items] } });
    },
    [path, pick],
  );
  useEffect(() => {
    void load(null);
    return () => controller.current?.abort();
  }, [load]);

  const part = loaded?.path === path ? loaded.part : null;
  return {
    items: part?.items,
    total: part?.total ?? 0,
    hasMore: part !== null && part.offset + part.limit < part.total,
    loading,
    error,
    loadMore: useCallback(() => void load(part), [load, part]),
  };
}
