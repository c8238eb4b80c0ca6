import type { ReactNode, Ref, UIEventHandler } from "react";
import { cn } from "./class-names.ts";

interface ScrollBoxProps {
  readonly ref?: Ref<HTMLElement>;
  readonly label: string;
  /** False for a box that a page can have many of, which would hide its parts among themselves. */
  readonly isLandmark?: boolean;
  readonly className?: string;
  readonly onScroll?: UIEventHandler;
  readonly children: ReactNode;
}

/** A scrollable box that the keyboard can reach too. `label` names it for screen readers. */
export const ScrollBox = ({ label, isLandmark = true, className, ...rest }: ScrollBoxProps) => (
  <section
    {...rest}
    tabIndex={0}
    role={isLandmark ? undefined : "group"}
    aria-label={label}
    className={cn("overflow-auto rounded-lg", className)}
  />
);
