"use client";
import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";

/** Collapsed options that few people need. They expand if one of them is set. */
export function MoreOptions({
  isOpen,
  children,
}: {
  readonly isOpen: boolean;
  readonly children: ReactNode;
}) {
  const [isExpanded, setIsExpanded] = useState(isOpen);
  const shown = isExpanded || isOpen;
  return (
    <details
      open={shown}
      onToggle={(event) => setIsExpanded(event.currentTarget.open)}
      className="group"
    >
      <summary className="flex w-fit items-center gap-1 rounded-md text-sm font-medium text-muted-foreground select-none hover:text-foreground [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="size-4 transition-transform group-open:rotate-90" />
        More options
      </summary>
      <div className="mt-3 flex flex-col gap-4">{children}</div>
    </details>
  );
}
