import type { ComponentProps } from "react";
import { cn } from "./class-names.ts";

/** A place that will be filled, of the size of what fills it. */
export function Skeleton({ className, ...rest }: ComponentProps<"div">) {
  return (
    <div aria-hidden {...rest} className={cn("animate-pulse rounded-md bg-muted", className)} />
  );
}
