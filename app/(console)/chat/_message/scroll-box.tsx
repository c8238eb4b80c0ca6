"use client";
import type { ReactNode, Ref } from "react";

/** What is too large for its place and scrolls in itself, also by the keyboard. */
export function ScrollBox({
  ref,
  label,
  className,
  children,
}: {
  readonly ref?: Ref<HTMLElement>;
  readonly label: string;
  readonly className: string;
  readonly children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section ref={ref} aria-label={label} tabIndex={0} className={className}>
      {children}
    </section>
  );
}
