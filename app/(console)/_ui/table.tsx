import type { ComponentProps } from "react";
import { cn } from "./class-names.ts";

/** Scrolls sideways in itself, so that the page never does. */
export function Table({ className, ...rest }: ComponentProps<"table">) {
  return (
    <div className="overflow-x-auto rounded-xl border bg-surface">
      <table {...rest} className={cn("w-full border-collapse text-left", className)} />
    </div>
  );
}

export function HeadCell({ className, ...rest }: ComponentProps<"th">) {
  return (
    <th
      scope="col"
      {...rest}
      className={cn(
        "border-b bg-muted/60 px-4 py-2 text-sm font-medium whitespace-nowrap text-muted-foreground",
        className,
      )}
    />
  );
}

export function Cell({ className, ...rest }: ComponentProps<"td">) {
  return (
    <td {...rest} className={cn("border-b px-4 py-2.5 in-[tr:last-child]:border-b-0", className)} />
  );
}
