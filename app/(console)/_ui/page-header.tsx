import type { ReactNode } from "react";
import { cn } from "./class-names.ts";

/** The layout of a page with text, lists and forms, which scrolls as a whole. */
export function Page({
  className,
  children,
}: {
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    <div
      data-page=""
      className={cn("mx-auto w-full max-w-6xl px-4 pt-6 pb-16 sm:px-8 sm:pt-9", className)}
    >
      {children}
    </div>
  );
}

export function PageHeader({
  title,
  description,
  children,
}: {
  readonly title: string;
  readonly description?: ReactNode;
  /** The page's actions, at the right. */
  readonly children?: ReactNode;
}) {
  return (
    <header className="mb-6 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
      <div className="min-w-0">
        <h1 className="text-2xl font-semibold">{title}</h1>
        {description !== undefined && (
          <p className="mt-1.5 max-w-2xl text-pretty text-muted-foreground">{description}</p>
        )}
      </div>
      {children !== undefined && <div className="flex flex-wrap gap-2">{children}</div>}
    </header>
  );
}
