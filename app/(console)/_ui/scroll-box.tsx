import type { ReactNode, Ref } from "react";
import { cn } from "./class-names.ts";

/** A scrollable box that the keyboard can reach too. `label` names it for screen readers. */
export function ScrollBox({
  ref,
  label,
  className,
  children,
}: {
  readonly ref?: Ref<HTMLElement>;
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    <section
      ref={ref}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it
      tabIndex={0}
      aria-label={label}
      className={cn("overflow-auto rounded-lg", className)}
    >
      {children}
    </section>
  );
}
