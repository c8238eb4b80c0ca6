import type { ComponentProps, ReactNode } from "react";
import { cn } from "./class-names.ts";
import { ScrollBox } from "./scroll-box.tsx";

/** A table that scrolls sideways within the page. `label` names it for screen readers. */
export const Table = ({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ReactNode;
}) => (
  <ScrollBox label={label} className="rounded-xl border bg-surface shadow-xs">
    <table className="w-full border-collapse text-left">{children}</table>
  </ScrollBox>
);

/** The line of column names at the top of a list whose rows are laid out as a grid. */
export const listHeadStyle =
  "border-b bg-muted/50 px-4 py-2 text-xs font-medium text-muted-foreground";

export const HeadCell = ({ className, ...rest }: ComponentProps<"th">) => (
  <th scope="col" {...rest} className={cn(listHeadStyle, "whitespace-nowrap", className)} />
);

export const Cell = ({ className, ...rest }: ComponentProps<"td">) => (
  <td
    {...rest}
    className={cn(
      "border-b px-4 py-2.5 tabular-nums in-[tr:last-child]:border-b-0 in-[tr:hover]:bg-muted/40",
      className,
    )}
  />
);
