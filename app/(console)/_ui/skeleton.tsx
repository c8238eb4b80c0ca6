import type { ComponentProps } from "react";
import { cn } from "./class-names.ts";

/** A placeholder with the size of the content that is loading. */
export function Skeleton({ className, ...rest }: ComponentProps<"div">) {
  return (
    <div aria-hidden {...rest} className={cn("animate-pulse rounded-md bg-muted", className)} />
  );
}

/** The placeholder of a list whose rows have two lines, as those of runs and schedules. */
export function ListSkeleton({
  label,
  rows = 6,
}: {
  /** What is loading, for screen readers: "Loading runs…". */
  readonly label: string;
  readonly rows?: number;
}) {
  return (
    <div aria-busy="true" className="divide-y overflow-hidden rounded-xl border bg-surface">
      <p className="sr-only">{label}</p>
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
    </div>
  );
}
