import type { getChatContextContract } from "@/lib/turns/context-contract.ts";
import type { Answer } from "../../_api/request.ts";
import { formatCompact } from "../../_ui/format.ts";

export type ChatContext = Answer<typeof getChatContextContract>;

const LABELS: Readonly<Record<ChatContext["parts"][number]["kind"], string>> = {
  system: "Instructions and tools",
  skills: "Skills",
  memory: "Memory",
  messages: "Messages",
  tool_results: "Tool results",
  summary: "Summary",
};

export function ContextParts({ id, context }: Readonly<{ id: string; context: ChatContext }>) {
  const { tokens, budget, window, parts } = context;
  return (
    <div
      role="tooltip"
      id={id}
      className="absolute right-0 bottom-full z-20 w-60 rounded-lg border bg-surface p-3 text-xs shadow-lg animate-appear"
    >
      <p className="font-medium">
        {`${formatCompact(tokens)} of ${formatCompact(budget)} tokens used`}
      </p>
      <p className="text-muted-foreground">
        {`The model's context window has ${formatCompact(window)}.`}
      </p>
      {parts.map((part) => (
        <p key={part.kind} className="mt-1 flex justify-between gap-4">
          <span>{`${LABELS[part.kind]} `}</span>
          <span className="tabular-nums">{formatCompact(part.tokens)}</span>
        </p>
      ))}
    </div>
  );
}
