import { ShieldQuestion } from "lucide-react";
import { useRef, useState } from "react";
import type { Approval } from "@/lib/turns/approvals-contract.ts";
import { Button } from "../_ui/button.tsx";
import { keyed } from "../_ui/keyed.ts";
import { ScrollBox } from "../_ui/scroll-box.tsx";

export type ApprovalAnswer = Readonly<{ approved: boolean; remember?: "chat" | "task" }>;

type Variant = "ghost" | "outline" | "primary";

interface ApprovalCardProps {
  readonly call: Pick<Approval, "category" | "effect" | "sources" | "input" | "is_memorable">;
  /** Whether the call is of a task, whose later runs can be approved as well. */
  readonly isOfTask?: boolean;
  /** Resolves to false if the answer was not recorded. Null while it cannot be answered. */
  readonly onAnswer: ((answer: ApprovalAnswer) => Promise<boolean>) | null;
}

const QUESTIONS: Readonly<Record<Approval["category"], string>> = {
  bash: "Run this command?",
  fetch: "Send this request?",
  write: "Write this file?",
  connectors: "Do this in a connected service?",
  mcp: "Use this tool of an MCP server?",
  media: "Generate this?",
  delivery: "Send this?",
};

const SOURCES: Readonly<Record<Approval["sources"][number]["kind"], string>> = {
  web: "Web page",
  search: "Search",
  file: "Document",
  workspace: "Workspace file",
  memory: "Memory",
  skill: "Skill of someone else",
  template: "Template of someone else",
  event: "Event",
  connector: "Connected service",
  mcp: "MCP server",
  share: "Shared chat",
};

/** A call that the agent asks for: what it does, why it is asked, and the answers. */
export function ApprovalCard({
  call: { category, effect, sources, input, is_memorable },
  isOfTask = false,
  onAnswer,
}: ApprovalCardProps) {
  const [answer, setAnswer] = useState<ApprovalAnswer | null>(null);
  const card = useRef<HTMLElement>(null);
  const give = async (given: ApprovalAnswer) => {
    // The buttons are about to disappear.
    card.current?.closest<HTMLElement>("[tabindex]")?.focus({ preventScroll: true });
    setAnswer(given);
    if ((await onAnswer?.(given)) === false) setAnswer(null);
  };
  const button = (label: string, given: ApprovalAnswer, variant: Variant) => (
    <Button size="sm" variant={variant} onClick={() => void give(given)}>
      {label}
    </Button>
  );
  return (
    <section
      ref={card}
      aria-label="Approval"
      className="flex min-w-0 flex-col gap-3 rounded-xl border bg-surface p-4 shadow-xs"
    >
      <p className="flex items-start gap-2 font-medium">
        <ShieldQuestion aria-hidden className="mt-0.5 size-4 shrink-0 text-accent-text" />
        {QUESTIONS[category]}
      </p>
      <dl className="grid min-w-0 grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
        {keyed(effect).map(({ key, item: { label, value } }) => (
          <div key={key} className="contents">
            <dt className="max-w-32 text-muted-foreground [overflow-wrap:anywhere]">{label}</dt>
            <dd className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">{value}</dd>
          </div>
        ))}
      </dl>
      {sources.length > 0 && (
        <div className="text-sm">
          <p className="text-warning-text">
            The agent has read content of others, which may have asked for this:
          </p>
          <ul className="list-disc pl-5 text-muted-foreground">
            {keyed(sources).map(({ key, item: { kind, name } }) => (
              <li key={key} className="[overflow-wrap:anywhere]">
                {SOURCES[kind]}: {name}
              </li>
            ))}
          </ul>
        </div>
      )}
      <details className="text-sm">
        <summary className="cursor-pointer text-muted-foreground">Exact input</summary>
        <ScrollBox label="Exact input" isLandmark={false} className="mt-1 max-h-60 bg-muted p-2">
          <pre className="text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
            {JSON.stringify(input, null, 2)}
          </pre>
        </ScrollBox>
      </details>
      {answer ? (
        <p role="status" className="text-sm text-muted-foreground">
          {answer.approved ? "Approved" : "Denied"}
        </p>
      ) : (
        onAnswer && (
          <div className="flex flex-wrap justify-end gap-2">
            {button("Deny", { approved: false }, "ghost")}
            {is_memorable &&
              button("Always in this chat", { approved: true, remember: "chat" }, "outline")}
            {is_memorable &&
              isOfTask &&
              button("Always for this task", { approved: true, remember: "task" }, "outline")}
            {button("Approve", { approved: true }, "primary")}
          </div>
        )
      )}
    </section>
  );
}
