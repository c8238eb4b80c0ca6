"use client";
import { Brain, ChevronRight } from "lucide-react";
import { useId, useState } from "react";
import { cn } from "../../_ui/class-names.ts";
import { Markdown } from "./markdown.tsx";

interface ReasoningProps {
  readonly text: string;
  readonly isStreaming: boolean;
}

/** The model's reasoning, collapsed at first. */
export function Reasoning({ text, isStreaming }: ReasoningProps) {
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
        <Brain aria-hidden className={cn("size-4", isStreaming && "animate-pulse")} />
        {isStreaming ? "Thinking…" : "Reasoning"}
        <ChevronRight
          aria-hidden
          className={cn("size-3.5 transition-transform", isOpen && "rotate-90")}
        />
      </button>
      <div
        id={id}
        hidden={!isOpen}
        className="mt-1 mb-2 border-l-2 pl-3 text-sm text-muted-foreground"
      >
        {isOpen && <Markdown text={text} isStreaming={isStreaming} />}
      </div>
    </div>
  );
}
