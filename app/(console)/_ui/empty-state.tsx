import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

/** Says that a list is empty and what to do about it. */
export function EmptyState({
  icon: Icon,
  title,
  text,
  children,
}: {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly text: ReactNode;
  /** The button for that action. */
  readonly children?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center rounded-xl border border-dashed px-6 py-12 text-center">
      <span className="grid size-10 place-items-center rounded-full bg-accent-soft text-accent-text">
        <Icon aria-hidden className="size-5" />
      </span>
      <h2 className="mt-3 font-semibold">{title}</h2>
      <p className="mt-1 max-w-sm text-muted-foreground">{text}</p>
      {children !== undefined && (
        <div className="mt-4 flex flex-wrap justify-center gap-2">{children}</div>
      )}
    </div>
  );
}
