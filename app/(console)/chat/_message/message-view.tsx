"use client";
import type { UIMessage } from "ai";
import dynamic from "next/dynamic";
import { memo, type ReactNode, useRef } from "react";
import { readToolCall, type ToolCall } from "@/app/(console)/chat/_state/tool-call.ts";
import { TodoList } from "../_tools/todo-list.tsx";
import { ToolRow } from "../_tools/tool-row.tsx";
import { keyed } from "./keyed.ts";
import { Markdown } from "./markdown.tsx";
import { MessageFoot } from "./message-foot.tsx";
import { Reasoning } from "./reasoning.tsx";

const QuestionCard = dynamic(() =>
  import("../_tools/question-card.tsx").then((module) => module.QuestionCard),
);

/** Drawn again only when the message itself changed. */
export const MessageView = memo(function MessageView({
  message,
  isGrowing,
  onAnswer,
}: {
  readonly message: UIMessage;
  /** Its turn is being read: it may still change. */
  readonly isGrowing: boolean;
  /** Given only while the message's questions can be answered. */
  readonly onAnswer: ((toolCallId: string, output: unknown) => void) | null;
}) {
  return message.role === "user" ? (
    <UserMessage message={message} />
  ) : (
    <AssistantMessage message={message} isGrowing={isGrowing} onAnswer={onAnswer} />
  );
});

function UserMessage({ message }: { readonly message: UIMessage }) {
  return (
    <article aria-label="You" className="flex flex-col items-end gap-1">
      {keyed(message.parts).map(({ key, item: part }) =>
        part.type === "text" ? (
          <p
            key={key}
            className="max-w-[85%] rounded-2xl rounded-br-md bg-muted px-3.5 py-2 whitespace-pre-wrap [overflow-wrap:anywhere]"
          >
            {part.text}
          </p>
        ) : null,
      )}
    </article>
  );
}

function AssistantMessage({
  message,
  isGrowing,
  onAnswer,
}: {
  readonly message: UIMessage;
  readonly isGrowing: boolean;
  readonly onAnswer: ((toolCallId: string, output: unknown) => void) | null;
}) {
  const calls = useToolCalls(message);
  const lastPlan = [...calls.values()].findLast((call) => call.name === "todo");
  return (
    <article aria-label="Agent" className="flex min-w-0 flex-col gap-3">
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
                isGrowing={isGrowing}
                onAnswer={onAnswer}
              />
            );
          })}
        </div>
      ))}
      {!isGrowing && <MessageFoot message={message} />}
    </article>
  );
}

type Part = UIMessage["parts"][number];

function PartView({
  part,
  call,
  isLastPlan,
  isGrowing,
  onAnswer,
}: {
  readonly part: Part;
  readonly call: ToolCall | undefined;
  readonly isLastPlan: boolean;
  readonly isGrowing: boolean;
  readonly onAnswer: ((toolCallId: string, output: unknown) => void) | null;
}): ReactNode {
  if (part.type === "text") {
    return <Markdown text={part.text} isGrowing={isGrowing && part.state === "streaming"} />;
  }
  if (part.type === "reasoning") {
    return <Reasoning text={part.text} isGrowing={isGrowing && part.state === "streaming"} />;
  }
  if (!call) return null;
  if (call.name === "ask_user_question" && call.state !== "failed") {
    return (
      <QuestionCard call={call} onAnswer={onAnswer && ((output) => onAnswer(call.id, output))} />
    );
  }
  if (call.name === "todo" && isLastPlan && call.state === "done") {
    return <TodoList input={call.input} />;
  }
  return <ToolRow call={call} />;
}

/** Tool calls in a row stand close together; what shows nothing is left out. */
function group(parts: readonly Part[]): Part[][] {
  const groups: { isTools: boolean; parts: Part[] }[] = [];
  for (const part of parts) {
    const isTool = part.type.startsWith("tool-");
    const isText = (part.type === "text" || part.type === "reasoning") && part.text.trim() !== "";
    if (!isTool && !isText) continue;
    const last = groups.at(-1);
    if (isTool && last?.isTools) last.parts.push(part);
    else groups.push({ isTools: isTool, parts: [part] });
  }
  return groups.map((one) => one.parts);
}

/** A call that did not change stays the same object, so that its row is not drawn again. */
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
