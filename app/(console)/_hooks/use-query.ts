import { useCallback, useEffect, useState } from "react";
import { type ApiError, api } from "./api.ts";

export interface Query<T> {
  /** Undefined until the first answer; it stays while it is loaded again. */
  readonly data: T | undefined;
  readonly error: ApiError | null;
  readonly loading: boolean;
  /** Loads again. */
  readonly reload: () => void;
  /** Shows a change before the API has told of it. */
  readonly change: (change: (data: T) => T) => void;
}

/** What `GET path` answers, while the component is there; null asks nothing. */
export function useQuery<T>(path: string | null): Query<T> {
  const [answer, setAnswer] = useState<{ path: string | null; data: T | undefined }>({
    path: null,
    data: undefined,
  });
  const [error, setError] = useState<ApiError | null>(null);
  const [loading, setLoading] = useState(path !== null);
  const [round, setRound] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round asks again
  useEffect(() => {
    if (path === null) return;
    const ending = new AbortController();
    setLoading(true);
    void api<T>(path, { signal: ending.signal }).then((result) => {
      if (ending.signal.aborted) return;
      setLoading(false);
      setError(result.ok ? null : result.error);
      if (result.ok) setAnswer({ path, data: result.data });
    });
    return () => ending.abort();
  }, [path, round]);

  const reload = useCallback(() => setRound((one) => one + 1), []);
  const change = useCallback((update: (data: T) => T) => {
    setAnswer((old) => (old.data === undefined ? old : { ...old, data: update(old.data) }));
  }, []);
  return {
    data: answer.path === path ? answer.data : undefined,
    error,
    loading,
    reload,
    change,
  };
}
