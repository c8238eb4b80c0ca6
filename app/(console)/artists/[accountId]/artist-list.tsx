import type { ReactNode } from "react";
import type { Pages } from "@/app/(console)/_hooks/use-pages.ts";
import { ErrorState } from "../../_ui/error-state.tsx";
import { LoadMore } from "../../_ui/load-more.tsx";
import { ListSkeleton } from "../../_ui/skeleton.tsx";

/** A list of the artist's work, page by page, with `empty` where there is none. */
export function ArtistList<T>({
  label,
  pages,
  empty,
  idOf,
  children,
}: {
  readonly label: string;
  readonly pages: Omit<Pages<T>, "refresh" | "isLoadingMore" | "isPrevious">;
  readonly empty: ReactNode;
  readonly idOf: (item: T) => string;
  readonly children: (item: T) => ReactNode;
}) {
  const { items, error, loadMore } = pages;
  if (error !== null) return <ErrorState error={error} onRetry={loadMore} />;
  if (items === undefined) {
    return <ListSkeleton label={`Loading ${label.toLowerCase()}…`} rows={4} />;
  }
  if (items.length === 0) return empty;
  return (
    <>
      <ul aria-label={label} className="divide-y overflow-hidden rounded-xl border bg-surface">
        {items.map((item) => (
          <li key={idOf(item)}>{children(item)}</li>
        ))}
      </ul>
      <LoadMore pages={pages} />
    </>
  );
}

/** The line of such a list. */
export const lineStyle = "flex items-center gap-3 px-4 py-3 hover:bg-muted";
