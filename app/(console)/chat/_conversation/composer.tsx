"use client";
import { ArrowUp, Square } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { keepDraft, readDraft } from "@/app/(console)/chat/_state/drafts.ts";
import { Button } from "../../_ui/button.tsx";

/** Milliseconds after the last key until a draft is kept. */
const REST = 300;

/**
 * Where a message is written. It holds its own text, so that a key draws nothing but this box,
 * however long the chat is.
 */
export function Composer({
  draftOf,
  isBusy,
  isStopping,
  canSend,
  returned,
  onTakeReturned,
  placeholder,
  onSend,
  onStop,
  children,
}: {
  /** The draft's name: the chat's id. */
  readonly draftOf: string;
  readonly isBusy: boolean;
  readonly isStopping: boolean;
  /** False until the chat is there. */
  readonly canSend: boolean;
  /** The text of a message that was not accepted comes back here. */
  readonly returned: string | null;
  readonly onTakeReturned: () => void;
  readonly placeholder: string;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
  /** Stands at the left, under the text. */
  readonly children?: ReactNode;
}) {
  const [text, setText] = useState(() => readDraft(draftOf));
  const box = useRef<HTMLTextAreaElement>(null);
  const isEmpty = text.trim() === "";

  useEffect(() => {
    const timer = setTimeout(() => keepDraft(draftOf, text), REST);
    const keepNow = () => keepDraft(draftOf, text);
    window.addEventListener("pagehide", keepNow);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("pagehide", keepNow);
      keepNow();
    };
  }, [draftOf, text]);

  useEffect(() => {
    if (returned === null) return;
    setText((written) => (written.trim() === "" ? returned : `${returned}\n\n${written}`));
    onTakeReturned();
  }, [returned, onTakeReturned]);

  useEffect(() => {
    // On a phone the keyboard would cover half of the page before anything was read.
    if (!matchMedia("(pointer: coarse)").matches) box.current?.focus({ preventScroll: true });
  }, []);

  const send = () => {
    if (isBusy || isEmpty || !canSend) return;
    onSend(text.trim());
    setText("");
    keepDraft(draftOf, "");
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
