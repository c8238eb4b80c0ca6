import { useState, useTransition } from "react";
import { Button } from "../../_ui/button.tsx";
import { TextareaField } from "../../_ui/form.tsx";

const MAX_COMMENT_CHARS = 2000;

interface CommentFormProps {
  readonly initial: string;
  readonly isBad: boolean;
  readonly onCancel: () => void;
  readonly onSave: (comment: string) => Promise<void>;
}

export function CommentForm({ initial, isBad, onCancel, onSave }: CommentFormProps) {
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
