import type { UIMessage } from "ai";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { Button, IconButton } from "../../_ui/button.tsx";
import { cn } from "../../_ui/class-names.ts";
import { CopyButton } from "../../_ui/copy-button.tsx";
import { formatDuration } from "../../_ui/format.ts";
import {
  ChevronLeft,
  ChevronRight,
  type IconComponent,
  MessageSquareText,
  Pencil,
  RefreshCw,
  RotateCw,
  ThumbsDown,
  ThumbsUp,
} from "../../_ui/icons.tsx";
import { fromParts } from "../_state/message-parts.ts";
import { numberAt, textAt } from "../_state/tool-call.ts";
import { focusConversation, useMessageActions } from "./message-actions.ts";

const TurnFailure = lazyComponent(() => import("./answer-extras.tsx"), "TurnFailure");

/** The actions for an answer, its model and duration, and how it ended if it was cut short. */
export function MessageFooter({ message }: { readonly message: UIMessage }) {
  const actions = useMessageActions();
  const { id, metadata } = message;
  const { text } = fromParts(message.parts);
  const reason = textAt(metadata, "finishReason") ?? "";
  const hasToolCall = message.parts.some(({ type }) => type.startsWith("tool-"));
  const ending = ENDINGS[reason];
  const isLast = actions !== null && id === actions.lastMessageId;
  // Where answers are compared, the figures of each matter.
  const isQuiet = actions !== null && !isLast;
  const { thumbs, commentForm } = useRating(id);
  const row = useRef<HTMLElement>(null);
  const repeat = () => {
    if (row.current) focusConversation(row.current);
    void actions?.conversation.branches.regenerate(id);
  };
  return (
    <div className="flex flex-col gap-1">
      {reason === "error" && (
        <TurnFailure
          error={textAt(metadata, "error") ?? "This answer has failed"}
          modelId={textAt(metadata, "modelId") ?? ""}
          onRetry={isLast && !actions.isBusy ? repeat : null}
          onTryModel={(modelId) => {
            void actions?.conversation.changeChat({ modelId }).then(repeat);
          }}
        />
      )}
      <footer
        ref={row}
        className="flex min-h-7 flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted-foreground"
      >
        {ending !== undefined && <span className="font-medium text-warning-text">{ending}</span>}
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
      {commentForm}
    </div>
  );
}

function details(metadata: unknown): string {
  const model = textAt(metadata, "modelId")?.replace(/^auto$/, "Default model");
  const duration = numberAt(metadata, "durationMs");
  return [model, duration !== null && formatDuration(duration)].filter(Boolean).join(" · ");
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
              void actions.conversation.branches.regenerate(messageId);
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

/** The arrow that gets the focus as soon as its message, on another branch, is shown. */
let nextArrow: { readonly messageId: string; readonly direction: -1 | 1 } | null = null;

/** "2 / 3": switches between the messages at one place. Nothing for a message that is alone there. */
function BranchArrows({ messageId }: { readonly messageId: string }) {
  const actions = useMessageActions();
  const ids = actions?.siblings.get(messageId) ?? [];
  const place = ids.indexOf(messageId);
  const group = useRef<HTMLFieldSetElement>(null);
  const isShown = place >= 0 && ids.length > 1;
  useEffect(() => {
    if (!isShown || nextArrow?.messageId !== messageId) return;
    const arrows = [...(group.current?.querySelectorAll("button") ?? [])];
    const [wanted, other] = nextArrow.direction < 0 ? arrows : arrows.reverse();
    nextArrow = null;
    // At the end of the row, only the other arrow can still be used.
    (wanted?.disabled ? other : wanted)?.focus({ preventScroll: true });
  }, [isShown, messageId]);
  if (!actions || !isShown) return null;

  const go = (direction: -1 | 1) => {
    const target = ids[place + direction];
    if (target === undefined || actions.isBusy) return;
    nextArrow = { messageId: target, direction };
    void actions.conversation.branches.choose(target);
  };
  const arrow = (direction: -1 | 1, icon: IconComponent, label: string, key: string) => (
    <IconButton
      {...{ icon, label }}
      title={`${label} (${key})`}
      className="size-6"
      disabled={ids[place + direction] === undefined || actions.isBusy}
      onClick={() => go(direction)}
    />
  );
  return (
    <fieldset
      ref={group}
      aria-label="Versions of this message"
      className="flex items-center text-xs text-muted-foreground tabular-nums"
      onKeyDown={(event) => {
        if (event.key === "ArrowLeft") go(-1);
        if (event.key === "ArrowRight") go(1);
      }}
    >
      {arrow(-1, ChevronLeft, "Previous version", "←")}
      <span>
        {place + 1} / {ids.length}
      </span>
      {arrow(1, ChevronRight, "Next version", "→")}
    </fieldset>
  );
}

const CommentForm = lazyComponent(() => import("./message-forms.tsx"), "CommentForm");

/** Returns thumbs up and down for the footer of an answer, and a comment to go with either. */
function useRating(messageId: string): { thumbs?: ReactNode; commentForm?: ReactNode } {
  const actions = useMessageActions();
  // Open for this rating, even if the rating itself could not be stored: the comment is kept.
  const [open, setOpen] = useState<"up" | "down" | null>(null);
  const commentButton = useRef<HTMLButtonElement>(null);
  if (!actions) return {};
  const rated = actions.ratings.get(messageId);
  const rate = (rating: "up" | "down") => {
    const isTakenBack = rated?.rating === rating;
    setOpen(!isTakenBack && rating === "down" ? rating : null);
    void actions.conversation.branches.rate(
      messageId,
      isTakenBack ? null : rating,
      rated?.comment ?? "",
    );
  };
  const close = () => {
    setOpen(null);
    commentButton.current?.focus();
  };
  const thumbs = (
    <>
      {(["up", "down"] as const).map((rating) => (
        <IconButton
          icon={rating === "up" ? ThumbsUp : ThumbsDown}
          key={rating}
          label={rating === "up" ? "Good answer" : "Bad answer"}
          className="aria-pressed:text-foreground aria-pressed:[&_svg]:fill-current"
          aria-pressed={rated?.rating === rating}
          onClick={() => rate(rating)}
        />
      ))}
      {rated && (
        <IconButton
          icon={MessageSquareText}
          ref={commentButton}
          label={rated.comment === null ? "Add a comment" : "Edit comment"}
          aria-expanded={open !== null}
          onClick={() => setOpen(open ? null : rated.rating)}
          className={rated.comment === null ? "" : "text-foreground"}
        />
      )}
    </>
  );
  const commentForm = open && (
    <CommentForm
      initial={rated?.comment ?? ""}
      isBad={open === "down"}
      onCancel={close}
      onSave={async (comment) => {
        if (await actions.conversation.branches.rate(messageId, open, comment)) close();
      }}
    />
  );
  return { thumbs, commentForm };
}
