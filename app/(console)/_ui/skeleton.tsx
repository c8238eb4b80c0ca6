import type { ComponentProps } from "react";
import { cn } from "./class-names.ts";

/** A placeholder with the size of the content that is loading. */
export function Skeleton({ className, ...rest }: ComponentProps<"div">) {
  return (
    <div aria-hidden {...rest} className={cn("animate-pulse rounded-md bg-muted", className)} />
  );
}
