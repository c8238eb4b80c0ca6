"use client";
import type { UIMessage } from "ai";
import { memo, type ReactNode, useEffect, useRef, useState } from "react";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { keyed } from "../../_ui/keyed.ts";
import type { Conversation } from "../_state/conversation.ts";
import { fromParts } from "../_state/message-parts.ts";
import { readToolCall, type ToolCall } from "../_state/tool-call.ts";
import { ToolRow } from "../_tools/tool-row.tsx";
import { Markdown } from "./markdown.tsx";
import { useMessageActions } from "./message-actions.ts";
import { MessageFiles } from "./message-files.tsx";
import { MessageFooter, UserFooter } from "./message-footer.tsx";
import { MessageHeading } from "./message-heading.tsx";
import { Reasoning } from "./reasoning.tsx";

const DataPart = lazyComponent(() => import("./data-part.tsx"), "DataPart");
const EditMessage = lazyComponent(() => import("./edit-message.tsx"), "EditMessage");
const ApprovalCard = lazyComponent(
  () => import("../../_approvals/approval-card.tsx"),
  "ApprovalCard",
);
const QuestionCard = lazyComponent(() => import("../_tools/question-card.tsx"), "QuestionCard");
const Sources = lazyComponent(() => import("./sources.tsx"), "Sources");
const TodoList = lazyComponent(() => import("../_tools/todo-list.tsx"), "TodoList");
const WrittenFiles = lazyComponent(() => import("./written-files.tsx"), "WrittenFiles");

/** How the questions and the requests of the agent are answered. */
export type Answering = Pick<Conversation, "answer" | "approve">;

/** One message. It is memoized, so that only a changed message is rendered again. */
export const MessageView = memo(function MessageView({
  message,
  isStreaming,
  answering,
}: {
  readonly message: UIMessage;
  /** True while its turn is being read, so that it may still change. */
  readonly isStreaming: boolean;
  /** Null unless the agent can be answered now. */
  readonly answering: Answering | null;
}) {
  return message.role === "user" ? (
    <UserMessage message={message} />
  ) : (
    <AssistantMessage message={message} isStreaming={isStreaming} answering={answering} />
  );
});

function UserMessage({ message }: { readonly message: UIMessage }) {
  const actions = useMessageActions();
  const [isEditing, setEditing] = useState(false);
  const editButton = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  useEffect(() => {
    if (wasEditing.current && !isEditing) editButton.current?.focus({ preventScroll: true });
    wasEditing.current = isEditing;
  }, [isEditing]);
  const { text } = fromParts(message.parts);
  if (isEditing && actions) {
    return (
      <article aria-label="You" className="relative">
        <MessageHeading>You</MessageHeading>
        <EditMessage
          text={text}
          isBusy={actions.isBusy}
          onCancel={() => setEditing(false)}
          onSend={(edited) => void actions.branches.edit(message.id, edited)}
        />
      </article>
    );
  }
  return (
    <article aria-label="You" className="group/message relative flex flex-col items-end gap-1">
      <WrittenParts parts={message.parts} />
      <UserFooter
        messageId={message.id}
        text={text}
        editButton={editButton}
        onEdit={() => setEditing(true)}
      />
    </article>
  );
}

function WrittenParts({ parts }: { readonly parts: readonly Part[] }) {
  return (
    <>
      <MessageHeading>You</MessageHeading>
      <MessageFiles files={parts.filter((part) => part.type === "file")} />
      {keyed(parts).map(({ key, item: part }) =>
        part.type === "text" ? (
          <p
            key={key}
            className="max-w-[85%] rounded-2xl rounded-br-md bg-muted px-3.5 py-2 whitespace-pre-wrap [overflow-wrap:anywhere]"
          >
            {part.text}
          </p>
        ) : null,
      )}
    </>
  );
}

interface AssistantMessageProps {
  readonly message: UIMessage;
  readonly isStreaming: boolean;
  readonly answering: Answering | null;
}

function AssistantMessage({ message, isStreaming, answering }: AssistantMessageProps) {
  const calls = useToolCalls(message);
  const lastPlan = [...calls.values()].findLast((call) => call.name === "todo");
  return (
    <article aria-label="Agent" className="group/message relative flex min-w-0 flex-col gap-3">
      <MessageHeading>Agent</MessageHeading>
      {keyed(group(message.parts)).map(({ key, item: parts }) => (
        <div key={key} className="flex min-w-0 flex-col">
          {keyed(parts).map(({ key: inside, item: part }) => {
            const call = calls.get(part);
            return (
              <PartView
                key={inside}
                part={part}
                call={call}
                isLastPlan={call === lastPlan}
                isStreaming={isStreaming}
                answering={answering}
              />
            );
          })}
        </div>
      ))}
      {message.parts.some(({ type }) => type === "source-url") && <Sources parts={message.parts} />}
      {!isStreaming && message.parts.some(isOfFiles) && <WrittenFiles parts={message.parts} />}
      {!isStreaming && <MessageFooter message={message} />}
    </article>
  );
}

const isOfFiles = ({ type }: Part) => type === "tool-write" || type === "data-workspace";

type Part = UIMessage["parts"][number];

interface PartViewProps {
  readonly part: Part;
  readonly call: ToolCall | undefined;
  readonly isLastPlan: boolean;
  readonly isStreaming: boolean;
  readonly answering: Answering | null;
}

function PartView({ part, call, isLastPlan, isStreaming, answering }: PartViewProps): ReactNode {
  if (part.type === "text") {
    return <Markdown text={part.text} isStreaming={isStreaming && part.state === "streaming"} />;
  }
  if (part.type === "reasoning") {
    return <Reasoning text={part.text} isStreaming={isStreaming && part.state === "streaming"} />;
  }
  if ("data" in part) return <DataPart type={part.type} data={part.data} />;
  if (part.type === "steering-message") {
    return (
      <article aria-label="You" className="relative flex flex-col items-end gap-1">
        <WrittenParts parts={part.parts} />
      </article>
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
  if (call.name === "todo" && isLastPlan && call.state === "done") {
    return <TodoList input={call.input} />;
  }
  return <ToolRow call={call} />;
}

/** Groups consecutive steps, which are reasoning and tool calls, and drops empty parts. */
function group(parts: readonly Part[]): Part[][] {
  const groups: { isSteps: boolean; parts: Part[] }[] = [];
  for (const part of parts) {
    const isTool = part.type.startsWith("tool-");
    const isText = (part.type === "text" || part.type === "reasoning") && part.text.trim() !== "";
    const isBetween = "data" in part || part.type === "steering-message";
    if (!isTool && !isText && !isBetween) continue;
    const isStep = isTool || part.type === "reasoning";
    const last = groups.at(-1);
    if (isStep && last?.isSteps) last.parts.push(part);
    else groups.push({ isSteps: isStep, parts: [part] });
  }
  return groups.map((one) => one.parts);
}

/** Keeps the object of a call that did not change, so that its row is not rendered again. */
function useToolCalls(message: UIMessage): ReadonlyMap<Part, ToolCall> {
  const known = useRef(new Map<string, ToolCall>());
  const calls = new Map<Part, ToolCall>();
  for (const part of message.parts) {
    const call = readToolCall(part);
    if (!call) continue;
    const before = known.current.get(call.id);
    const isSame =
      before !== undefined &&
      before.state === call.state &&
      before.input === call.input &&
      before.output === call.output;
    const kept = isSame ? before : call;
    known.current.set(call.id, kept);
    calls.set(part, kept);
  }
  return calls;
}
