import type { UIMessage } from "ai";
import { memo, type ReactNode, useEffect, useRef, useState } from "react";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { cn } from "../../_ui/class-names.ts";
import { Disclosure } from "../../_ui/disclosure.tsx";
import { formatDuration } from "../../_ui/format.ts";
import { Brain, ListChecks } from "../../_ui/icons.tsx";
import { keyed } from "../../_ui/keyed.ts";
import type { Conversation } from "../_state/conversation.ts";
import { fromParts } from "../_state/message-parts.ts";
import { numberAt, readToolCall, type ToolCall } from "../_state/tool-call.ts";
import { ToolRow } from "../_tools/tool-row.tsx";
import { Markdown } from "./markdown.tsx";
import { Message, WrittenParts } from "./message.tsx";
import { useMessageActions } from "./message-actions.ts";
import { MessageFooter, UserFooter } from "./message-footer.tsx";

const DataPart = lazyComponent(() => import("./answer-extras.tsx"), "DataPart");
const EditMessage = lazyComponent(() => import("./message-forms.tsx"), "EditMessage");
const ApprovalCard = lazyComponent(
  () => import("../../_approvals/approval-card.tsx"),
  "ApprovalCard",
);
const QuestionCard = lazyComponent(() => import("../_tools/question-card.tsx"), "QuestionCard");
const Sources = lazyComponent(() => import("./answer-extras.tsx"), "Sources");
const TodoList = lazyComponent(() => import("../_tools/todo-list.tsx"), "TodoList");
const WrittenFiles = lazyComponent(() => import("./answer-extras.tsx"), "WrittenFiles");

export type Answering = Pick<Conversation, "answer" | "approve">;

interface MessageViewProps {
  readonly message: UIMessage;
  /** True while its turn is streaming, so it may still change. */
  readonly isStreaming: boolean;
  /** Null unless the agent can be answered now. */
  readonly answering: Answering | null;
}

/** One message. Memoized: only a changed message is rendered again. */
export const MessageView = memo(function MessageView(props: MessageViewProps) {
  const View = props.message.role === "user" ? UserMessage : AssistantMessage;
  return <View {...props} />;
});

function UserMessage({ message }: Pick<MessageViewProps, "message">) {
  const actions = useMessageActions();
  const [isEditing, setEditing] = useState(false);
  const editButton = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  useEffect(() => {
    if (wasEditing.current && !isEditing) editButton.current?.focus({ preventScroll: true });
    wasEditing.current = isEditing;
  }, [isEditing]);
  const { text, files } = fromParts(message.parts);
  if (isEditing && actions) {
    return (
      <Message author="You">
        <EditMessage
          {...{ text, files }}
          isBusy={actions.isBusy}
          onCancel={() => setEditing(false)}
          onSend={(edited) => void actions.conversation.branches.edit(message.id, edited)}
        />
      </Message>
    );
  }
  return (
    <Message author="You" className="group/message flex flex-col items-end gap-1">
      <WrittenParts parts={message.parts} />
      <UserFooter
        messageId={message.id}
        {...{ text, editButton }}
        onEdit={() => setEditing(true)}
      />
    </Message>
  );
}

function AssistantMessage({ message, isStreaming, answering }: MessageViewProps) {
  const calls = useToolCalls(message);
  const plan = [...calls.values()].findLast((one) => one.name === "todo" && one.state === "done");
  // One plan is shown: the newest.
  const isOutdated = (call?: ToolCall) =>
    plan && call?.name === "todo" && call !== plan && ["done", "running"].includes(call.state);
  const shown = message.parts.filter((part) => !isOutdated(calls.get(part)));
  const groups = group(shown, (part) => calls.get(part) === plan);
  const callsIn = ({ parts }: Group) => parts.flatMap((part) => calls.get(part) ?? []);
  const folded = groups.filter(
    (one, index) => one.isSteps && isLong(callsIn(one)) && hasAnswer(groups.slice(index)),
  );
  const durationMs = folded.length === 1 ? numberAt(message.metadata, "durationMs") : null;
  return (
    <Message author="Agent" className="group/message flex min-w-0 flex-col gap-3">
      {keyed(groups).map(({ key, item: one }) => {
        const views = keyed(one.parts).map(({ key: inside, item: part }) => (
          <PartView
            key={inside}
            {...{ part, isStreaming, answering }}
            call={calls.get(part)}
            isPlan={plan !== undefined && calls.get(part) === plan}
          />
        ));
        return (
          <div key={key} className="flex min-w-0 flex-col">
            {folded.includes(one) ? (
              <Disclosure summary={<StepsSummary calls={callsIn(one)} durationMs={durationMs} />}>
                {views}
              </Disclosure>
            ) : (
              views
            )}
          </div>
        );
      })}
      {message.parts.some(({ type }) => type === "source-url") && <Sources parts={message.parts} />}
      {!isStreaming && message.parts.some(isOfFiles) && <WrittenFiles parts={message.parts} />}
      {!isStreaming && <MessageFooter message={message} />}
    </Message>
  );
}

type StepsSummaryProps = Readonly<{ calls: readonly ToolCall[]; durationMs: number | null }>;

function StepsSummary({ calls, durationMs }: StepsSummaryProps) {
  const failed = calls.filter(({ state }) => state === "failed").length;
  return (
    <>
      <ListChecks aria-hidden className="size-4" />
      {calls.length} steps{durationMs !== null && `, ${formatDuration(durationMs)}`}
      {failed > 0 && <span className="text-xs text-danger-text">{failed} failed</span>}
    </>
  );
}

/** Fewer calls, and calls that have not ended, are shown one by one. */
const isLong = (calls: readonly ToolCall[]) =>
  calls.length >= 4 && calls.every(({ state }) => ["done", "failed", "stopped"].includes(state));

const hasAnswer = (groups: readonly Group[]) =>
  groups.some(({ parts }) => parts.some(({ type }) => type === "text"));

const isOfFiles = ({ type }: Part) => type === "tool-write" || type === "data-workspace";

type Part = UIMessage["parts"][number];

interface PartViewProps extends Omit<MessageViewProps, "message"> {
  readonly part: Part;
  readonly call: ToolCall | undefined;
  readonly isPlan: boolean;
}

function PartView({ part, call, isPlan, isStreaming, answering }: PartViewProps): ReactNode {
  if (part.type === "text" || part.type === "reasoning") {
    const View = part.type === "text" ? Markdown : Reasoning;
    return <View text={part.text} isStreaming={isStreaming && part.state === "streaming"} />;
  }
  if ("data" in part) return <DataPart type={part.type} data={part.data} />;
  if (part.type === "steering-message") {
    return (
      <Message author="You" className="flex flex-col items-end gap-1">
        <WrittenParts parts={part.parts} />
      </Message>
    );
  }
  if (!call) return null;
  if (call.name === "ask_user_question" && call.state !== "failed" && call.state !== "stopped") {
    return (
      <QuestionCard
        call={call}
        onAnswer={answering && ((output) => void answering.answer(call.id, output))}
      />
    );
  }
  const { approval, input } = call;
  if (approval) {
    return (
      <ApprovalCard
        call={{ ...approval, input }}
        onAnswer={answering && ((answer) => answering.approve(approval.id, answer))}
      />
    );
  }
  return isPlan ? <TodoList input={call.input} /> : <ToolRow call={call} />;
}

type Group = Readonly<{ isSteps: boolean; parts: Part[] }>;

/** Groups consecutive steps, which are reasoning and tool calls but the plan, and drops empty parts. */
function group(parts: readonly Part[], isPlan: (part: Part) => boolean): Group[] {
  const groups: Group[] = [];
  for (const part of parts) {
    const isTool = part.type.startsWith("tool-");
    const isText = (part.type === "text" || part.type === "reasoning") && part.text.trim() !== "";
    const isBetween = "data" in part || part.type === "steering-message";
    if (!isTool && !isText && !isBetween) continue;
    const isStep = (isTool && !isPlan(part)) || part.type === "reasoning";
    const last = groups.at(-1);
    if (isStep && last?.isSteps) last.parts.push(part);
    else groups.push({ isSteps: isStep, parts: [part] });
  }
  return groups;
}

/** Keeps the object of an unchanged call, or its row would be rendered again. */
function useToolCalls(message: UIMessage): ReadonlyMap<Part, ToolCall> {
  const known = useRef(new Map<string, ToolCall>());
  const calls = new Map<Part, ToolCall>();
  for (const part of message.parts) {
    const call = readToolCall(part);
    if (!call) continue;
    const before = known.current.get(call.id);
    const isSame = (["state", "input", "output"] as const).every(
      (field) => before?.[field] === call[field],
    );
    const kept = before && isSame ? before : call;
    known.current.set(call.id, kept);
    calls.set(part, kept);
  }
  return calls;
}

/** The model's reasoning, collapsed at first. */
const Reasoning = ({ text, isStreaming }: Readonly<{ text: string; isStreaming: boolean }>) => (
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
