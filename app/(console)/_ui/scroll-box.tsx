import type { ReactNode } from "react";
import { cn } from "./class-names.ts";

/** Long text that scrolls in itself. */
export function ScrollBox({
  label,
  className,
  children,
}: {
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section tabIndex={0} aria-label={label} className={cn("overflow-auto rounded-lg", className)}>
      {children}
    </section>
  );
}
