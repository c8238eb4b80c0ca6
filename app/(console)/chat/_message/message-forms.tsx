/** The forms at a message: for another version of it, and for a comment on an answer. Loaded on demand. */
import type { FileUIPart } from "ai";
import { useEffect, useRef, useState, useTransition } from "react";
import { Button } from "../../_ui/button.tsx";
import { Form, TextareaField } from "../../_ui/form.tsx";
import { focusConversation } from "./message-actions.ts";
import { MessageFiles } from "./message-files.tsx";

interface EditMessageProps {
  readonly text: string;
  /** They stay with the message. */
  readonly files: readonly FileUIPart[];
  readonly isBusy: boolean;
  readonly onCancel: () => void;
  readonly onSend: (text: string) => void;
}

/** The form in place of a message of the user. Escape cancels. */
export function EditMessage({ text: initial, files, isBusy, onCancel, onSend }: EditMessageProps) {
  const [text, setText] = useState(initial);
  const box = useRef<HTMLTextAreaElement>(null);
  const canSend = text.trim() !== "" && !isBusy;
  useEffect(() => {
    const { current } = box;
    current?.focus({ preventScroll: true });
    current?.setSelectionRange(current.value.length, current.value.length);
  }, []);
  const send = () => {
    if (!canSend || !box.current) return;
    focusConversation(box.current);
    onSend(text.trim());
  };
  return (
    <Form
      className="w-full rounded-2xl border border-input bg-surface shadow-xs focus-within:border-accent-text focus-within:ring-1 focus-within:ring-accent-text"
      onSubmit={send}
    >
      <div className="flex px-3 pt-3 empty:hidden">
        <MessageFiles files={files} />
      </div>
      <textarea
        ref={box}
        rows={1}
        value={text}
        aria-label="Edit message"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Escape") {
            // Else it would also stop the running turn.
            event.preventDefault();
            onCancel();
          }
          const isPlain = !event.shiftKey && !matchMedia("(pointer: coarse)").matches;
          if (event.key !== "Enter" || !isPlain) return;
          event.preventDefault();
          send();
        }}
        className="block field-sizing-content max-h-[40vh] min-h-16 w-full resize-none bg-transparent px-3.5 pt-3 pb-1 outline-none max-sm:text-[16px]"
      />
      <div className="flex items-center justify-between gap-2 px-2 pb-2">
        <p className="px-1.5 text-xs text-muted-foreground">The earlier version is kept.</p>
        <div className="flex gap-2">
          <Button variant="ghost" size="sm" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" size="sm" disabled={!canSend}>
            Send
          </Button>
        </div>
      </div>
    </Form>
  );
}

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
    <Form
      className="mt-1 flex max-w-lg flex-col gap-2 rounded-lg border bg-surface p-3"
      onSubmit={() => startSaving(() => onSave(text.trim()))}
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
    </Form>
  );
}
