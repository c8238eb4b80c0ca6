import { type ReactNode, useId, useState } from "react";
import { cn } from "./class-names.ts";
import { ChevronRight } from "./icons.tsx";

interface DisclosureProps {
  readonly summary: ReactNode;
  readonly className?: string;
  readonly panelClassName?: string;
  readonly children: ReactNode;
}

/** A row that expands to show `children`, which are rendered only then. */
export function Disclosure({ summary, className, panelClassName, children }: DisclosureProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <div className="min-w-0">
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
        className={cn(
          "-mx-2 flex h-8 min-w-0 items-center gap-2 rounded-md px-2 text-left text-sm text-muted-foreground hover:bg-muted",
          className,
        )}
      >
        {summary}
        <ChevronRight
          aria-hidden
          className={cn("ml-auto size-3.5 shrink-0 transition-transform", isOpen && "rotate-90")}
        />
      </button>
      <div id={id} hidden={!isOpen} className={panelClassName}>
        {isOpen && children}
      </div>
    </div>
  );
}
