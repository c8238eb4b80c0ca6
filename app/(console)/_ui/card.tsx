import type { ComponentProps, ReactNode } from "react";
import { cn } from "./class-names.ts";

export const Card = ({ className, ...rest }: ComponentProps<"div">) => (
  <div {...rest} className={cn("rounded-xl border bg-surface p-5 shadow-xs", className)} />
);

type SectionCardProps = Readonly<{ title: string; description?: ReactNode; children: ReactNode }>;

/** A card with a heading, for one subject of a page, such as a group of settings. */
export const SectionCard = ({ title, description, children }: SectionCardProps) => (
  <section className="rounded-xl border bg-surface shadow-xs lg:grid lg:grid-cols-[17rem_minmax(0,1fr)]">
    <div className="border-b px-5 py-4 lg:border-r lg:border-b-0 lg:py-5">
      <h2 className="font-semibold">{title}</h2>
      {description !== undefined && (
        <p className="mt-0.5 max-w-2xl text-sm text-pretty text-muted-foreground">{description}</p>
      )}
    </div>
    <div className="max-w-2xl min-w-0 p-5">{children}</div>
  </section>
);
