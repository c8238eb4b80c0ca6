import { Button } from "./button.tsx";

interface LoadMoreProps {
  readonly pages: {
    readonly hasMore: boolean;
    readonly loading: boolean;
    readonly loadMore: () => void;
  };
  /** What is loaded, where the page has several lists. */
  readonly items?: string;
}

/** The button below a list that has further pages. */
export function LoadMore({ pages, items }: LoadMoreProps) {
  if (!pages.hasMore) return null;
  return (
    <div className="mt-4 text-center">
      <Button variant="outline" busy={pages.loading} onClick={pages.loadMore}>
        {items === undefined ? "Load more" : `Load more ${items}`}
      </Button>
    </div>
  );
}
