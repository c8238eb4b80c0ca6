import { type Query as Stored, useQueryClient, useQuery as useStored } from "@tanstack/react-query";
import { useCallback } from "react";
import { type ApiError, read } from "../_api/request.ts";

export interface Query<T> {
  /** Undefined until the first response; kept while it is loaded again. */
  readonly data: T | undefined;
  /** When the data was read, in milliseconds since 1970. It changes with each response, `data` only if it differs. */
  readonly readAt: number;
  readonly error: ApiError | null;
  readonly loading: boolean;
  readonly reload: () => void;
  /** Changes the data in advance of a response. */
  readonly change: (change: (data: T) => T) => void;
}

/** Returns the key under which the responses of `GET path` are cached; its first part is the path without its query. */
export const keyOf = (path: string): readonly string[] => path.split("?");

/** How long to wait before data is loaded again while the tab is visible, in milliseconds; false for never. */
export type Poll<T> = number | false | ((data: T | undefined) => number | false);

/** Returns the option of a query that loads it again at an interval. */
export const pollOption = <T>(poll: Poll<T>) => ({
  refetchInterval: (query: Stored<T, ApiError, T, readonly string[]>) =>
    typeof poll === "function" ? poll(query.state.data) : poll,
});

/** Reads `GET path` while the component is mounted, unless a response is younger than `staleTime` ms; null reads nothing. */
export function useQuery<T>(path: string | null, poll: Poll<T> = false, staleTime = 0): Query<T> {
  const client = useQueryClient();
  const { data, dataUpdatedAt, error, isFetching, refetch } = useStored({
    queryKey: keyOf(path ?? ""),
    queryFn: ({ signal }) => read<T>(path ?? "", signal),
    enabled: path !== null,
    staleTime,
    ...pollOption(poll),
  });
  const change = useCallback(
    (update: (data: T) => T) =>
      void client.setQueryData<T>(keyOf(path ?? ""), (old) => old && update(old)),
    [client, path],
  );
  const reload = useCallback(() => void refetch(), [refetch]);
  return { data, readAt: dataUpdatedAt, error, loading: isFetching, reload, change };
}
