"use client";
import { ArrowUp, Square } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { readDraft, saveDraft } from "@/app/(console)/chat/_state/drafts.ts";
import { Button } from "../../_ui/button.tsx";

/** How long after the last keystroke a draft is saved. */
const SAVE_DELAY_MS = 300;

/**
 * The form for writing a message. It keeps its text to itself, so that a keystroke renders only this
 * form, however long the chat is.
 */
export function Composer({
  draftKey,
  isBusy,
  isStopping,
  canSend,
  returnedText,
  onReturnedTextTaken,
  placeholder,
  onSend,
  onStop,
  children,
}: {
  /** The key of the draft: the chat's id. */
  readonly draftKey: string;
  readonly isBusy: boolean;
  readonly isStopping: boolean;
  /** False until the chat is loaded. */
  readonly canSend: boolean;
  /** The text of a message that was not accepted; it is put back into the box. */
  readonly returnedText: string | null;
  readonly onReturnedTextTaken: () => void;
  readonly placeholder: string;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
  /** Controls below the text, on the left. */
  readonly children?: ReactNode;
}) {
  const [text, setText] = useState(() => readDraft(draftKey));
  const box = useRef<HTMLTextAreaElement>(null);
  const isEmpty = text.trim() === "";

  useEffect(() => {
    const timer = setTimeout(() => saveDraft(draftKey, text), SAVE_DELAY_MS);
    const saveNow = () => saveDraft(draftKey, text);
    window.addEventListener("pagehide", saveNow);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("pagehide", saveNow);
      saveNow();
    };
  }, [draftKey, text]);

  useEffect(() => {
    if (returnedText === null) return;
    setText((typed) => (typed.trim() === "" ? returnedText : `${returnedText}\n\n${typed}`));
    onReturnedTextTaken();
  }, [returnedText, onReturnedTextTaken]);

  useEffect(() => {
    // On a phone, the keyboard would cover half of the page.
    if (!matchMedia("(pointer: coarse)").matches) box.current?.focus({ preventScroll: true });
  }, []);

  const send = () => {
    if (isBusy || isEmpty || !canSend) return;
    onSend(text.trim());
    setText("");
    saveDraft(draftKey, "");
    box.current?.focus({ preventScroll: true });
  };

  return (
    <form
      className="mx-auto w-full max-w-3xl shrink-0 px-4 pb-4"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className="rounded-xl border border-input bg-surface shadow-xs focus-within:border-accent-text focus-within:ring-1 focus-within:ring-accent-text">
        <textarea
          ref={box}
          rows={1}
          value={text}
          aria-label="Message"
          placeholder={placeholder}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            const isPlain = !event.shiftKey && !event.nativeEvent.isComposing;
            if (event.key !== "Enter" || !isPlain || matchMedia("(pointer: coarse)").matches)
              return;
            event.preventDefault();
            send();
          }}
          className="block field-sizing-content max-h-[40vh] min-h-11 w-full resize-none bg-transparent px-3.5 pt-3 pb-1 outline-none max-sm:text-[16px]"
        />
        <div className="flex items-center justify-between gap-2 px-2 pb-2">
          <div className="flex min-w-0 items-center gap-1">{children}</div>
          {isBusy ? (
            <Button
              variant="outline"
              size="sm"
              className="h-8"
              busy={isStopping}
              title="Stop (Esc)"
              onClick={onStop}
            >
              <Square aria-hidden className="size-3! fill-current" />
              Stop
            </Button>
          ) : (
            <Button
              type="submit"
              size="icon"
              aria-label="Send"
              title="Send (Enter)"
              disabled={isEmpty || !canSend}
              className="rounded-lg"
            >
              <ArrowUp aria-hidden />
            </Button>
          )}
        </div>
      </div>
    </form>
  );
}
