"use client";
import type { UIMessage } from "ai";
import { Pencil, RefreshCw, RotateCw } from "lucide-react";
import { type RefObject, useRef } from "react";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { Button, IconButton } from "../../_ui/button.tsx";
import { cn } from "../../_ui/class-names.ts";
import { CopyButton } from "../../_ui/copy-button.tsx";
import { formatDuration } from "../../_ui/format.ts";
import { fromParts } from "../_state/message-parts.ts";
import { numberAt, textAt } from "../_state/tool-call.ts";
import { BranchArrows } from "./branch-arrows.tsx";
import { focusConversation, useMessageActions } from "./message-actions.ts";
import { RateAnswer } from "./rate-answer.tsx";

const TurnFailure = lazyComponent(() => import("./turn-failure.tsx"), "TurnFailure");

/** What can be done with an answer, its model and duration, and how it ended if it was cut short. */
export function MessageFooter({ message }: { readonly message: UIMessage }) {
  const actions = useMessageActions();
  const { id, metadata } = message;
  const { text } = fromParts(message.parts);
  const reason = textAt(metadata, "finishReason") ?? "";
  const hasToolCall = message.parts.some(({ type }) => type.startsWith("tool-"));
  const ending = ENDINGS[reason];
  const isLast = actions !== null && id === actions.lastMessageId;
  // Where answers are tried and compared, the figures of each are what counts.
  const isQuiet = actions !== null && !isLast;
  const row = useRef<HTMLElement>(null);
  const repeat = () => {
    if (row.current) focusConversation(row.current);
    void actions?.branches.regenerate(id);
  };
  return (
    <RateAnswer messageId={id} className="flex flex-col gap-1">
      {(thumbs) => (
        <>
          {reason === "error" && (
            <TurnFailure
              error={textAt(metadata, "error") ?? "This answer has failed"}
              modelId={textAt(metadata, "modelId") ?? ""}
              onRetry={isLast && !actions.isBusy ? repeat : null}
              onTryModel={(modelId) => void actions?.tryModel(modelId, id)}
            />
          )}
          <footer
            ref={row}
            className="flex min-h-7 flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted-foreground"
          >
            {ending !== undefined && (
              <span className="font-medium text-warning-text">{ending}</span>
            )}
            <BranchArrows messageId={id} />
            <div className={cn("flex flex-wrap items-center gap-x-2", isQuiet && quietStyle)}>
              <div className="-ml-1.5 flex items-center">
                {text !== "" && <CopyButton text={text} label="Copy message" isSmall />}
                {actions && (
                  <IconButton
                    icon={RefreshCw}
                    label="Regenerate answer"
                    disabled={actions.isBusy}
                    onClick={repeat}
                  />
                )}
                {(text !== "" || hasToolCall) && thumbs}
              </div>
              <span>{details(metadata)}</span>
            </div>
          </footer>
        </>
      )}
    </RateAnswer>
  );
}

function details(metadata: unknown): string {
  const duration = numberAt(metadata, "durationMs");
  return [
    textAt(metadata, "modelId")?.replace(/^auto$/, "Default model") ?? null,
    duration === null ? null : formatDuration(duration),
  ]
    .filter((detail) => detail !== null)
    .join(" · ");
}

const ENDINGS: Readonly<Record<string, string | undefined>> = {
  interrupted: "Stopped",
  length: "Cut off at the model's length limit",
  "content-filter": "Cut off by the model's content filter",
};

/** Shown when its message is pointed at or has the focus, and always without a mouse or on a phone. */
const quietStyle =
  "sm:pointer-fine:opacity-0 transition-opacity group-hover/message:opacity-100! group-focus-within/message:opacity-100!";

interface UserFooterProps {
  readonly messageId: string;
  readonly text: string;
  readonly editButton: RefObject<HTMLButtonElement | null>;
  readonly onEdit: () => void;
}

/** What can be done with a message of the user. */
export function UserFooter({ messageId, text, editButton, onEdit }: UserFooterProps) {
  const actions = useMessageActions();
  if (!actions) return null;
  const isUnanswered = messageId === actions.lastMessageId && !actions.isBusy;
  return (
    <footer className="flex min-h-7 flex-wrap items-center justify-end gap-x-1">
      {isUnanswered && (
        <>
          <span className="text-xs font-medium text-warning-text">Not answered</span>
          <Button
            icon={RotateCw}
            variant="outline"
            size="sm"
            onClick={({ currentTarget }) => {
              focusConversation(currentTarget);
              void actions.branches.regenerate(messageId);
            }}
          >
            Retry
          </Button>
        </>
      )}
      <div className={cn("flex items-center", quietStyle)}>
        {text !== "" && <CopyButton text={text} label="Copy message" isSmall />}
        <IconButton
          icon={Pencil}
          ref={editButton}
          label="Edit message"
          disabled={actions.isBusy}
          onClick={onEdit}
        />
      </div>
      <BranchArrows messageId={messageId} />
    </footer>
  );
}
