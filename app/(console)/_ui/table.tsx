import type { ComponentProps } from "react";
import { cn } from "./class-names.ts";
import { ScrollBox } from "./scroll-box.tsx";

/** A table that scrolls sideways within the page. `label` names it for screen readers. */
export function Table({
  label,
  className,
  ...rest
}: ComponentProps<"table"> & { readonly label: string }) {
  return (
    <ScrollBox label={label} className="rounded-xl border bg-surface shadow-xs">
      <table {...rest} className={cn("w-full border-collapse text-left", className)} />
    </ScrollBox>
  );
}

/** The line of column names at the top of a list whose rows are laid out as a grid. */
export const listHeadStyle =
  "border-b bg-muted/50 px-4 py-2 text-xs font-medium text-muted-foreground";

export function HeadCell({ className, ...rest }: ComponentProps<"th">) {
  return <th scope="col" {...rest} className={cn(listHeadStyle, "whitespace-nowrap", className)} />;
}

export function Cell({ className, ...rest }: ComponentProps<"td">) {
  return (
    <td
      {...rest}
      className={cn(
        "border-b px-4 py-2.5 tabular-nums in-[tr:last-child]:border-b-0 in-[tr:hover]:bg-muted/40",
        className,
      )}
    />
  );
}
