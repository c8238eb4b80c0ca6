import type { ReactNode } from "react";
import { cn } from "./class-names.ts";

type FactsProps = Readonly<{ className?: string; children: ReactNode }>;

/** Facts about a thing: one name with its value on each row. */
export const Facts = ({ className, children }: FactsProps) => (
  <dl className={cn("grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5", className)}>
    {children}
  </dl>
);

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

interface FiguresProps {
  readonly figures: readonly (readonly [name: string, amount: ReactNode])[];
  readonly className: string;
}

/** Amounts side by side, each below its name. */
export const Figures = ({ figures, className }: FiguresProps) => (
  <dl className={cn("grid gap-px overflow-hidden rounded-xl border bg-border", className)}>
    {figures.map(([name, amount]) => (
      <div key={name} className="bg-surface px-4 py-3 max-lg:last:odd:col-span-2">
        <dt className="text-xs text-muted-foreground">{name}</dt>
        <dd className="mt-0.5 text-lg font-semibold tabular-nums">{amount}</dd>
      </div>
    ))}
  </dl>
);
