"use client";
import { MessageSquareText, ThumbsDown, ThumbsUp } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { IconButton } from "../../_ui/button.tsx";
import { useMessageActions } from "./message-actions.ts";

const CommentForm = lazyComponent(() => import("./comment-form.tsx"), "CommentForm");

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
