"use client";
import { Brain } from "lucide-react";
import { cn } from "../../_ui/class-names.ts";
import { Disclosure } from "../../_ui/disclosure.tsx";
import { Markdown } from "./markdown.tsx";

interface ReasoningProps {
  readonly text: string;
  readonly isStreaming: boolean;
}

/** The model's reasoning, collapsed at first. */
export function Reasoning({ text, isStreaming }: ReasoningProps) {
  return (
    <Disclosure
      summary={
        <>
          <Brain aria-hidden className={cn("size-4", isStreaming && "animate-pulse")} />
          {isStreaming ? "Thinking…" : "Reasoning"}
        </>
      }
      panelClassName="mt-1 mb-2 border-l-2 pl-3 text-sm text-muted-foreground"
    >
      <Markdown text={text} isStreaming={isStreaming} />
    </Disclosure>
  );
}
