"use client";
import { Brain, ChevronRight } from "lucide-react";
import { useId, useState } from "react";
import { cn } from "../../_ui/class-names.ts";
import { Markdown } from "./markdown.tsx";

/** What the model thought before it answered, folded. */
export function Reasoning({
  text,
  isGrowing,
}: {
  readonly text: string;
  readonly isGrowing: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <div className="min-w-0">
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
        className="-mx-2 flex h-8 items-center gap-2 rounded-md px-2 text-sm text-muted-foreground hover:bg-muted"
      >
        <Brain aria-hidden className={cn("size-4", isGrowing && "animate-pulse")} />
        {isGrowing ? "Thinking" : "Thoughts"}
        <ChevronRight
          aria-hidden
          className={cn("size-3.5 transition-transform", isOpen && "rotate-90")}
        />
      </button>
      <div id={id} hidden={!isOpen} className="mt-1 border-l-2 pl-3 text-sm text-muted-foreground">
        {isOpen && <Markdown text={text} isGrowing={isGrowing} />}
      </div>
    </div>
  );
}
