import type { ReactNode } from "react";
import { cn } from "./class-names.ts";

/** Amounts side by side, each below its name. */
export function Figures({
  figures,
  className,
}: {
  readonly figures: readonly (readonly [name: string, amount: ReactNode])[];
  /** The number of columns. */
  readonly className: string;
}) {
  return (
    <dl className={cn("grid gap-px overflow-hidden rounded-xl border bg-border", className)}>
      {figures.map(([name, amount]) => (
        <div key={name} className="bg-surface px-4 py-3 max-lg:last:odd:col-span-2">
          <dt className="text-xs text-muted-foreground">{name}</dt>
          <dd className="mt-0.5 text-lg font-semibold tabular-nums">{amount}</dd>
        </div>
      ))}
    </dl>
  );
}
