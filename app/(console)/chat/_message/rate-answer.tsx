"use client";
import { MessageSquareText, ThumbsDown, ThumbsUp } from "lucide-react";
import { type ReactNode, useRef, useState, useTransition } from "react";
import { Button, IconButton } from "../../_ui/button.tsx";
import { TextareaField } from "../../_ui/form.tsx";
import { useMessageActions } from "./message-actions.ts";

const MAX_COMMENT_CHARS = 2000;

interface RateAnswerProps {
  readonly messageId: string;
  readonly className: string;
  readonly children: (thumbs: ReactNode) => ReactNode;
}

/** Thumbs up and down for the row that `children` makes, and below it a comment to go with either. */
export function RateAnswer({ messageId, className, children }: RateAnswerProps) {
  const actions = useMessageActions();
  // Open for this rating, even if the rating itself could not be stored: the comment is kept.
  const [open, setOpen] = useState<"up" | "down" | null>(null);
  const commentButton = useRef<HTMLButtonElement>(null);
  if (!actions) return <div className={className}>{children(null)}</div>;
  const rated = actions.ratings.get(messageId);
  const rate = (rating: "up" | "down") => {
    const isTakenBack = rated?.rating === rating;
    setOpen(!isTakenBack && rating === "down" ? rating : null);
    void actions.branches.rate(messageId, isTakenBack ? null : rating, rated?.comment ?? "");
  };
  const close = () => {
    setOpen(null);
    commentButton.current?.focus();
  };
  const thumbs = (
    <>
      {(["up", "down"] as const).map((rating) => {
        const Icon = rating === "up" ? ThumbsUp : ThumbsDown;
        return (
          <IconButton
            icon={Icon}
            key={rating}
            label={rating === "up" ? "Good answer" : "Bad answer"}
            className="aria-pressed:text-foreground aria-pressed:[&_svg]:fill-current"
            aria-pressed={rated?.rating === rating}
            onClick={() => rate(rating)}
          />
        );
      })}
      {rated && (
        <IconButton
          ref={commentButton}
          label={rated.comment === null ? "Add a comment" : "Edit comment"}
          aria-expanded={open !== null}
          onClick={() => setOpen(open ? null : rated.rating)}
        >
          <MessageSquareText
            aria-hidden
            className={rated.comment === null ? "" : "text-foreground"}
          />
        </IconButton>
      )}
    </>
  );
  return (
    <div className={className}>
      {children(thumbs)}
      {open && (
        <CommentForm
          initial={rated?.comment ?? ""}
          isBad={open === "down"}
          onCancel={close}
          onSave={async (comment) => {
            if (await actions.branches.rate(messageId, open, comment)) close();
          }}
        />
      )}
    </div>
  );
}

interface CommentFormProps {
  readonly initial: string;
  readonly isBad: boolean;
  readonly onCancel: () => void;
  readonly onSave: (comment: string) => Promise<void>;
}

function CommentForm({ initial, isBad, onCancel, onSave }: CommentFormProps) {
  const [text, setText] = useState(initial);
  const [isSaving, startSaving] = useTransition();
  return (
    <form
      className="mt-1 flex max-w-lg flex-col gap-2 rounded-lg border bg-surface p-3"
      onSubmit={(event) => {
        event.preventDefault();
        startSaving(() => onSave(text.trim()));
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        onCancel();
      }}
    >
      <TextareaField
        label={isBad ? "What was wrong?" : "What was good?"}
        rows={2}
        value={text}
        maxLength={MAX_COMMENT_CHARS}
        placeholder={isBad ? "The release date is a week off" : "The split sheet is complete"}
        autoFocus
        onChange={setText}
      />
      <div className="flex justify-end gap-2">
        <Button variant="ghost" size="sm" onClick={onCancel}>
          {initial === "" ? "Skip" : "Cancel"}
        </Button>
        <Button type="submit" size="sm" busy={isSaving} disabled={text.trim() === initial}>
          Save comment
        </Button>
      </div>
    </form>
  );
}
