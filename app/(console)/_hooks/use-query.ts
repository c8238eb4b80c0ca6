import { useCallback, useEffect, useState } from "react";
import { type ApiError, api } from "../_api/request.ts";

export interface Query<T> {
  /** Undefined until the first response; kept while it is loaded again. */
  readonly data: T | undefined;
  readonly error: ApiError | null;
  readonly loading: boolean;
  /** Loads the data again. */
  readonly reload: () => void;
  /** Changes the data in advance of a response. */
  readonly change: (change: (data: T) => T) => void;
}

/** Loads `GET path` while the component is mounted; null loads nothing. */
export function useQuery<T>(path: string | null): Query<T> {
  const [response, setResponse] = useState<{ path: string | null; data: T | undefined }>({
    path: null,
    data: undefined,
  });
  const [error, setError] = useState<ApiError | null>(null);
  const [loading, setLoading] = useState(path !== null);
  const [revision, setRevision] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new revision loads again
  useEffect(() => {
    if (path === null) return;
    const controller = new AbortController();
    setLoading(true);
    void api<T>(path, { signal: controller.signal }).then((result) => {
      if (controller.signal.aborted) return;
      setLoading(false);
      setError(result.ok ? null : result.error);
      if (result.ok) setResponse({ path, data: result.data });
    });
    return () => controller.abort();
  }, [path, revision]);

  const reload = useCallback(() => setRevision((current) => current + 1), []);
  const change = useCallback((update: (data: T) => T) => {
    setResponse((old) => (old.data === undefined ? old : { ...old, data: update(old.data) }));
  }, []);
  return {
    data: response.path === path ? response.data : undefined,
    error,
    loading,
    reload,
    change,
  };
}
