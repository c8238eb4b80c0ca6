"use client";
import type { UIMessage } from "ai";
import { Pencil, RefreshCw, RotateCw } from "lucide-react";
import type { MouseEvent, RefObject } from "react";
import { Button, IconButton } from "../../_ui/button.tsx";
import { cn } from "../../_ui/class-names.ts";
import { CopyButton } from "../../_ui/copy-button.tsx";
import { fromParts } from "../_state/message-parts.ts";
import { numberAt, textAt, valueAt } from "../_state/tool-call.ts";
import { BranchArrows } from "./branch-arrows.tsx";
import { focusConversation, useMessageActions } from "./message-actions.ts";
import { RateAnswer } from "./rate-answer.tsx";

/** What can be done with an answer, its model, tokens and duration, and how it ended if it was cut short. */
export function MessageFooter({ message }: { readonly message: UIMessage }) {
  const actions = useMessageActions();
  const { id, metadata } = message;
  const { text } = fromParts(message.parts);
  const reason = textAt(metadata, "finishReason") ?? "";
  const hasToolCall = message.parts.some(({ type }) => type.startsWith("tool-"));
  const ending = ENDINGS[reason];
  const isLast = id === actions?.lastMessageId;
  // Where answers are tried and compared, the figures of each are what counts.
  const isQuiet = actions !== null && !isLast;
  const canRetry = isLast && !actions?.isBusy && !actions?.hasError && reason === "error";
  const repeat = ({ currentTarget }: MouseEvent) => {
    focusConversation(currentTarget);
    void actions?.branches.regenerate(id);
  };
  return (
    <RateAnswer messageId={id} className="flex flex-col">
      {(thumbs) => (
        <footer className="flex min-h-7 flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted-foreground">
          {ending !== undefined && <span className="font-medium text-warning-text">{ending}</span>}
          {canRetry && (
            <Button icon={RotateCw} variant="outline" size="sm" onClick={repeat}>
              Retry
            </Button>
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
      )}
    </RateAnswer>
  );
}

function details(metadata: unknown): string {
  const tokens = numberAt(valueAt(metadata, "usage"), "totalTokens");
  const duration = numberAt(metadata, "durationMs");
  return [
    textAt(metadata, "modelId")?.replace(/^auto$/, "Default model") ?? null,
    // A turn that ended before the model answered has used none.
    tokens === null || tokens === 0 ? null : `${tokens.toLocaleString("en")} tokens`,
    duration === null ? null : inSeconds(duration),
  ]
    .filter((detail) => detail !== null)
    .join(" · ");
}

const ENDINGS: Readonly<Record<string, string | undefined>> = {
  interrupted: "Stopped",
  error: "Failed",
  length: "Cut off at the model's length limit",
  "content-filter": "Cut off by the model's content filter",
};

const inSeconds = (ms: number): string =>
  ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;

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
  const isUnanswered = messageId === actions.lastMessageId && !actions.isBusy && !actions.hasError;
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
