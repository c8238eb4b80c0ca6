import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

/**
 * Says what a list will hold, what that is good for, and how to begin. `points` are up to three short
 * sentences that teach what is not obvious.
 */
export function EmptyState({
  icon: Icon,
  title,
  text,
  points,
  isWholePage = false,
  children,
}: {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly text: ReactNode;
  readonly points?: readonly string[];
  /** Whether the page has no other heading. */
  readonly isWholePage?: boolean;
  /** The buttons for the first step. */
  readonly children?: ReactNode;
}) {
  const Heading = isWholePage ? "h1" : "h2";
  return (
    <div className="flex flex-col items-center rounded-xl border bg-muted/35 px-6 py-12 text-center sm:py-14">
      <span className="grid size-11 place-items-center rounded-xl border bg-surface text-muted-foreground shadow-xs">
        <Icon aria-hidden className="size-5" />
      </span>
      <Heading className="mt-4 text-lg font-semibold tracking-tight">{title}</Heading>
      <p className="mt-1 max-w-md text-balance text-muted-foreground">{text}</p>
      {points !== undefined && (
        <ul className="mt-5 grid w-full max-w-3xl gap-2.5 text-left sm:grid-cols-[repeat(auto-fit,minmax(13rem,1fr))]">
          {points.map((point) => (
            <li
              key={point}
              className="rounded-lg border bg-surface px-3.5 py-3 text-sm text-muted-foreground"
            >
              {point}
            </li>
          ))}
        </ul>
      )}
      {children !== undefined && (
        <div className="mt-5 flex flex-wrap justify-center gap-2">{children}</div>
      )}
    </div>
  );
}
