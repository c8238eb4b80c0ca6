import type { ReactNode } from "react";
import type { Query } from "@/app/(console)/_hooks/use-query.ts";
import { ErrorState } from "./error-state.tsx";

/** One thing that a page loads by the id in its address, or that it is loading, missing or failed. */
export function Loaded<T>({
  query: { data, error, reload },
  missing,
  loading,
  children,
}: {
  readonly query: Query<T>;
  /** Shown when the thing does not exist or belongs to another account. */
  readonly missing: ReactNode;
  readonly loading: ReactNode;
  readonly children: (data: T) => ReactNode;
}) {
  // The API answers 400 when the id is malformed.
  if (error?.status === 404 || error?.status === 400) return missing;
  return (
    <>
      {error !== null && <ErrorState error={error} onRetry={reload} />}
      {error === null && data === undefined && <div aria-busy="true">{loading}</div>}
      {data !== undefined && children(data)}
    </>
  );
}
