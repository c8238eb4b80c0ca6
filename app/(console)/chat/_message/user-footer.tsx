"use client";
import { Pencil, RotateCw } from "lucide-react";
import type { RefObject } from "react";
import { Button } from "../../_ui/button.tsx";
import { cn } from "../../_ui/class-names.ts";
import { CopyButton } from "../../_ui/copy-button.tsx";
import { IconButton, iconButtonStyle } from "../../_ui/icon-button.tsx";
import { BranchArrows } from "./branch-arrows.tsx";
import { focusConversation, useMessageActions } from "./message-actions.ts";
import { quietStyle } from "./quiet-style.ts";

/** What can be done with a message of the user. */
export function UserFooter({
  messageId,
  text,
  editButton,
  onEdit,
}: {
  readonly messageId: string;
  readonly text: string;
  readonly editButton: RefObject<HTMLButtonElement | null>;
  readonly onEdit: () => void;
}) {
  const actions = useMessageActions();
  if (!actions) return null;
  const isUnanswered = messageId === actions.lastMessageId && !actions.isBusy && !actions.hasError;
  return (
    <footer className="flex min-h-7 flex-wrap items-center justify-end gap-x-1">
      {isUnanswered && (
        <>
          <span className="text-xs font-medium text-warning-text">Not answered</span>
          <Button
            variant="outline"
            size="sm"
            onClick={({ currentTarget }) => {
              focusConversation(currentTarget);
              void actions.branches.regenerate(messageId);
            }}
          >
            <RotateCw aria-hidden />
            Retry
          </Button>
        </>
      )}
      <div className={cn("flex items-center", quietStyle)}>
        {text !== "" && (
          <CopyButton
            text={text}
            label="Copy message"
            variant="ghost"
            className={iconButtonStyle}
          />
        )}
        <IconButton
          ref={editButton}
          label="Edit message"
          disabled={actions.isBusy}
          onClick={onEdit}
        >
          <Pencil aria-hidden />
        </IconButton>
      </div>
      <BranchArrows messageId={messageId} />
    </footer>
  );
}
