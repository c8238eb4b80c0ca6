import type { ReactNode } from "react";
import { cn } from "./class-names.ts";

/** What is known of a thing: names with their values, one on a row. */
export function Facts({
  className,
  children,
}: {
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    <dl className={cn("grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5", className)}>
      {children}
    </dl>
  );
}

/** One row; none without a value. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  if (children === undefined) return null;
  return (
    <>
      <dt className="text-muted-foreground">{name}</dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </>
  );
}
