import type { ComponentProps, ReactNode } from "react";
import type { ApiError } from "../_api/request.ts";
import type { Pages } from "../_hooks/use-pages.ts";
import type { Query } from "../_hooks/use-query.ts";
import { Button, ButtonLink } from "./button.tsx";
import { cn } from "./class-names.ts";
import { CircleAlert, type IconComponent } from "./icons.tsx";

/** Shows what a list will hold, its purpose, and how to start. */
export function EmptyState({
  icon: Icon,
  title,
  text,
  isWholePage = false,
  children,
}: {
  readonly icon: IconComponent;
  readonly title: string;
  readonly text: ReactNode;
  /** Whether the page has no other heading. */
  readonly isWholePage?: boolean;
  readonly children?: ReactNode;
}) {
  const Heading = isWholePage ? "h1" : "h2";
  return (
    <div className="flex flex-col items-center rounded-xl border bg-muted/35 px-6 py-12 text-center sm:py-14">
      <span className="grid size-11 place-items-center rounded-xl border bg-surface text-muted-foreground shadow-xs">
        <Icon aria-hidden className="size-5" />
      </span>
      <Heading className="mt-4 text-lg font-semibold tracking-tight">{title}</Heading>
      <p className="mt-1 max-w-md text-balance text-muted-foreground">{text}</p>
      {children !== undefined && (
        <div className="mt-5 flex flex-wrap justify-center gap-2">{children}</div>
      )}
    </div>
  );
}

interface MissingProps {
  readonly icon: IconComponent;
  readonly title: string;
  readonly text: string;
  readonly href: string;
  readonly link: string;
}

/** The whole page of a thing that was deleted or belongs to others, with a link to the list of all. */
export const Missing = ({ icon, title, text, href, link }: MissingProps) => (
  <EmptyState {...{ icon, title, text }} isWholePage>
    <ButtonLink href={href} variant="outline">
      {link}
    </ButtonLink>
  </EmptyState>
);

interface ErrorStateProps {
  readonly error: Pick<ApiError, "message" | "requestId">;
  readonly onRetry?: () => void;
}

/** A failed request, with the request id for support and an optional button to retry. */
export const ErrorState = ({ error, onRetry }: ErrorStateProps) => (
  <div role="alert" className="flex items-start gap-3 rounded-xl border bg-danger-soft p-4">
    <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-danger-text" />
    <div className="min-w-0 flex-1">
      <p className="font-medium break-words text-danger-text">{error.message}</p>
      {error.requestId !== null && (
        <p className="mt-0.5 text-xs break-all text-muted-foreground">
          Request ID: <code className="font-mono">{error.requestId}</code>
        </p>
      )}
    </div>
    {onRetry !== undefined && (
      <Button variant="outline" size="sm" onClick={onRetry}>
        Retry
      </Button>
    )}
  </div>
);

/** The text of a failure within a form. */
export function ErrorNote({ children }: { readonly children: string | null }) {
  if (children === null) return null;
  return (
    <p role="alert" className="rounded-md bg-danger-soft px-3 py-2 break-words text-danger-text">
      {children}
    </p>
  );
}

/** Shows the data of a part of a page, or that it is loading, missing or failed. */
export function Loaded<T>({
  query: { data, error, reload },
  missing,
  loading,
  children,
}: {
  readonly query: Pick<Query<T>, "data" | "error" | "reload">;
  /** Shown when the thing does not exist or belongs to another account. */
  readonly missing?: ReactNode;
  readonly loading: ReactNode;
  readonly children: (data: T) => ReactNode;
}) {
  // The API answers 400 when the id is malformed.
  const isMissing = error?.status === 404 || error?.status === 400;
  if (missing !== undefined && isMissing) return missing;
  return (
    <>
      {error !== null && <ErrorState error={error} onRetry={reload} />}
      {error === null && data === undefined && loading}
      {data !== undefined && children(data)}
    </>
  );
}

/** A list that is read page by page, in one box or as cards; or that it is loading, empty or failed. */
export const PagedList = <T,>({
  label,
  pages: { items, error, hasMore, loading, loadMore },
  loadingRows = 4,
  cards,
  more,
  head,
  empty,
  keyOf,
  children,
}: {
  /** The name of the items: "Runs". */
  readonly label: string;
  readonly pages: Pick<Pages<T>, "items" | "error" | "hasMore" | "loading" | "loadMore">;
  readonly loadingRows?: number;
  /** The classes of a grid of cards and of a placeholder card, for items that are not rows. */
  readonly cards?: Readonly<{ grid: string; placeholder: string }>;
  /** The name of the items on the button, where the page has several lists: "members". */
  readonly more?: string;
  readonly head?: ReactNode;
  readonly empty: ReactNode;
  readonly keyOf: (item: T) => string;
  readonly children: (item: T) => ReactNode;
}) => (
  <>
    {error !== null && (
      <div className="mb-3">
        <ErrorState error={error} onRetry={loadMore} />
      </div>
    )}
    {items === undefined &&
      error === null &&
      (cards ? (
        <Loading label={`Loading ${label.toLowerCase()}…`} className={cards.grid}>
          <Skeletons count={loadingRows} className={cards.placeholder} />
        </Loading>
      ) : (
        <ListSkeleton label={`Loading ${label.toLowerCase()}…`} rows={loadingRows} />
      ))}
    {items?.length === 0 && empty}
    {items !== undefined && items.length > 0 && (
      <div className={cards ? "" : "overflow-hidden rounded-xl border bg-surface shadow-xs"}>
        {head}
        <ul aria-label={label} className={cards?.grid ?? "divide-y"}>
          {items.map((item) => (
            <li key={keyOf(item)} className="min-w-0">
              {children(item)}
            </li>
          ))}
        </ul>
      </div>
    )}
    {error === null && <LoadMore pages={{ hasMore, loading, loadMore }} items={more} />}
  </>
);

interface LoadMoreProps {
  readonly pages: Pick<Pages<unknown>, "hasMore" | "loading" | "loadMore">;
  readonly items?: string | undefined;
}

export function LoadMore({ pages: { hasMore, loading, loadMore }, items }: LoadMoreProps) {
  if (!hasMore) return null;
  return (
    <ShowMore size="md" busy={loading} onClick={loadMore}>
      {items === undefined ? "Load more" : `Load more ${items}`}
    </ShowMore>
  );
}

/** Below a list that is loaded whole and shown in part. */
export const ShowMore = ({ children = "Show more", ...rest }: ComponentProps<typeof Button>) => (
  <div className="mt-4 text-center">
    <Button variant="outline" size="sm" {...rest}>
      {children}
    </Button>
  </div>
);

/** A placeholder with the size of the content that is loading. */
export const Skeleton = ({ className, ...rest }: ComponentProps<"div">) => (
  <div aria-hidden {...rest} className={cn("animate-pulse rounded-md bg-muted", className)} />
);

export const Skeletons = ({ count, className }: Readonly<{ count: number; className: string }>) =>
  Array.from({ length: count }, (_, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the placeholders never change
    <Skeleton key={index} className={className} />
  ));

type LoadingProps = Readonly<{ label: string; className?: string; children?: ReactNode }>;

/** A placeholder for loading content: the children in a box of a class, or else one block of it. */
export const Loading = ({ label, className, children }: LoadingProps) => (
  <div aria-busy="true" className={children === undefined ? undefined : className}>
    <p className="sr-only">{label}</p>
    {children ?? <Skeleton className={className} />}
  </div>
);

/** The placeholder of a list whose rows have two lines. `label` is for screen readers. */
export const ListSkeleton = ({ label, rows = 6 }: Readonly<{ label: string; rows?: number }>) => (
  <Loading label={label} className="divide-y overflow-hidden rounded-xl border bg-surface">
    {Array.from({ length: rows }, (_, row) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the rows never change
      <div key={row} className="flex h-15.5 items-center gap-3 px-4">
        <Skeleton className="size-7" />
        <div className="flex min-w-0 flex-1 flex-col gap-1.5">
          <Skeleton className="h-3.5 w-2/5" />
          <Skeleton className="h-3 w-1/4" />
        </div>
        <Skeleton className="h-5 w-20 rounded-full" />
        <Skeleton className="h-3 w-16 max-sm:hidden" />
      </div>
    ))}
  </Loading>
);
