"use client";
import { ShieldQuestion } from "lucide-react";
import { useRef, useState } from "react";
import { Button } from "../../_ui/button.tsx";
import { focusConversation } from "../_message/message-actions.ts";
import { listAt, type ToolCall, textAt } from "../_state/tool-call.ts";

interface ApprovalCardProps {
  readonly call: ToolCall;
  /** Null while it cannot be answered. */
  readonly onAnswer: ((answer: Answer) => void) | null;
}

interface Answer {
  readonly approved: boolean;
  readonly remember?: "chat";
}

const QUESTIONS: Readonly<Record<string, string>> = {
  bash: "Run this command?",
  fetch: "Send this request?",
  write: "Write this file?",
  connectors: "Do this in a connected service?",
  mcp: "Use this tool of an MCP server?",
  media: "Generate this?",
  delivery: "Send this?",
};

const SOURCES: Readonly<Record<string, string>> = {
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
};

/** A call that the agent asks for: what it does, why it is asked, and the answers. */
export function ApprovalCard({ call, onAnswer }: ApprovalCardProps) {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const card = useRef<HTMLElement>(null);
  const question = QUESTIONS[textAt(call.approval, "category") ?? ""] ?? "Allow this?";
  const sources = listAt(call.approval, "sources");
  const give = (given: Answer) => {
    if (card.current) focusConversation(card.current);
    setAnswer(given);
    onAnswer?.(given);
  };
  return (
    <section
      ref={card}
      aria-label="Approval"
      className="flex min-w-0 flex-col gap-3 rounded-xl border bg-surface p-4 shadow-xs"
    >
      <p className="flex items-start gap-2 font-medium">
        <ShieldQuestion aria-hidden className="mt-0.5 size-4 shrink-0 text-accent-text" />
        {question}
      </p>
      <dl className="grid min-w-0 grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
        {listAt(call.approval, "effect").map((line) => (
          <div key={textAt(line, "label")} className="contents">
            <dt className="text-muted-foreground">{textAt(line, "label")}</dt>
            <dd className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">
              {textAt(line, "value")}
            </dd>
          </div>
        ))}
      </dl>
      {sources.length > 0 && (
        <div className="text-sm">
          <p className="text-warning-text">
            The agent has read content of others, which may have asked for this:
          </p>
          <ul className="list-disc pl-5 text-muted-foreground">
            {sources.map((source) => {
              const kind = textAt(source, "kind") ?? "";
              const text = `${SOURCES[kind] ?? kind}: ${textAt(source, "name")}`;
              return (
                <li key={text} className="[overflow-wrap:anywhere]">
                  {text}
                </li>
              );
            })}
          </ul>
        </div>
      )}
      <details className="text-sm">
        <summary className="cursor-pointer text-muted-foreground">Exact input</summary>
        <pre className="mt-1 max-h-60 overflow-auto rounded-md bg-muted p-2 text-xs whitespace-pre-wrap">
          {JSON.stringify(call.input, null, 2)}
        </pre>
      </details>
      {answer ? (
        <p role="status" className="text-sm text-muted-foreground">
          {answer.approved ? "Approved" : "Denied"}
        </p>
      ) : (
        onAnswer && (
          <div className="flex flex-wrap justify-end gap-2">
            <Button variant="ghost" size="sm" onClick={() => give({ approved: false })}>
              Deny
            </Button>
            <Button
              variant="outline"
              size="sm"
              onClick={() => give({ approved: true, remember: "chat" })}
            >
              Always in this chat
            </Button>
            <Button size="sm" onClick={() => give({ approved: true })}>
              Approve
            </Button>
          </div>
        )
      )}
    </section>
  );
}
