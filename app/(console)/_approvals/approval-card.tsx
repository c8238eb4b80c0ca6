import { useEffect, useRef, useState } from "react";
import type { Approval } from "@/lib/approvals/contract.ts";
import { Button } from "../_ui/button.tsx";
import { ForeignText } from "../_ui/foreign-text.tsx";
import { ShieldQuestion } from "../_ui/icons.tsx";
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
  schedules: "Create this schedule?",
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

/**
 * How long a card must have been in view before it can be approved. Until then, a click may have
 * been aimed at the element that the card replaced.
 */
const SEEN_MS = 700;

/** Whether an element has been in view for long enough, in a window with the focus. */
function useSeen(element: HTMLElement | null): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (!element) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isInView = false;
    const look = () => {
      clearTimeout(timer);
      if (!isInView || !document.hasFocus()) setSeen(false);
      else timer = setTimeout(() => setSeen(true), SEEN_MS);
    };
    const observer = new IntersectionObserver(
      (entries) => {
        isInView = entries.at(-1)?.isIntersecting ?? false;
        look();
      },
      { threshold: 0.9 },
    );
    observer.observe(element);
    const left = new AbortController();
    for (const event of ["focus", "blur"])
      window.addEventListener(event, look, { signal: left.signal });
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      left.abort();
    };
  }, [element]);
  return isSeen;
}

/** A call that awaits approval: its effect, the reason for the question, and the answers. */
export function ApprovalCard({
  call: { category, effect, sources, input, is_memorable },
  isOfTask = false,
  onAnswer,
}: ApprovalCardProps) {
  const [answer, setAnswer] = useState<ApprovalAnswer | null>(null);
  const card = useRef<HTMLElement>(null);
  const [buttons, setButtons] = useState<HTMLElement | null>(null);
  const isSeen = useSeen(buttons);
  const [isOpen, setOpen] = useState(false);
  const [isRead, setRead] = useState(!effect.some(({ is_cut }) => is_cut));
  const readTo = (box: Element | null) => {
    if (box && box.scrollTop + box.clientHeight >= box.scrollHeight - 4) setRead(true);
  };
  const give = async (given: ApprovalAnswer) => {
    if (given.approved && !(isSeen && isRead)) return;
    // The buttons are about to disappear.
    card.current?.closest<HTMLElement>("[tabindex]")?.focus({ preventScroll: true });
    setAnswer(given);
    if ((await onAnswer?.(given)) === false) setAnswer(null);
  };
  // Disabling a focused button would lose the focus.
  const button = (label: string, given: ApprovalAnswer, variant: Variant) => (
    <Button
      size="sm"
      variant={variant}
      aria-disabled={given.approved && !(isSeen && isRead)}
      className="aria-disabled:opacity-55"
      onClick={() => void give(given)}
    >
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
            <dt className="max-w-32 text-muted-foreground [overflow-wrap:anywhere]">
              <ForeignText text={label} isWrittenOut />
            </dt>
            <dd className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">
              <ForeignText text={value} isWrittenOut />
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
            {keyed(sources).map(({ key, item: { kind, name } }) => (
              <li key={key} className="[overflow-wrap:anywhere]">
                {SOURCES[kind]}: <ForeignText text={name} />
              </li>
            ))}
          </ul>
        </div>
      )}
      <details className="text-sm" onToggle={({ currentTarget: { open } }) => setOpen(open)}>
        <summary className="cursor-pointer text-muted-foreground">Exact input</summary>
        {isOpen && (
          <ScrollBox
            ref={readTo}
            label="Exact input"
            isLandmark={false}
            className="mt-1 max-h-60 bg-muted p-2"
            onScroll={({ currentTarget }) => readTo(currentTarget)}
          >
            <pre className="text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
              <ForeignText text={JSON.stringify(input, null, 2) ?? ""} />
            </pre>
          </ScrollBox>
        )}
      </details>
      {answer ? (
        <p role="status" className="text-sm text-muted-foreground">
          {answer.approved ? "Approved" : "Denied"}
        </p>
      ) : (
        onAnswer && (
          <>
            {!isRead && (
              <p className="text-sm text-warning-text">
                A part is left out above. Read “Exact input” to its end to approve.
              </p>
            )}
            <div ref={setButtons} className="flex flex-wrap justify-end gap-2">
              {button("Deny", { approved: false }, "ghost")}
              {is_memorable &&
                button("Always in this chat", { approved: true, remember: "chat" }, "outline")}
              {is_memorable &&
                isOfTask &&
                button("Always for this task", { approved: true, remember: "task" }, "outline")}
              {button("Approve", { approved: true }, "primary")}
            </div>
          </>
        )
      )}
    </section>
  );
}
