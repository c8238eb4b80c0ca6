import type { FileUIPart } from "ai";
import {
  type ReactNode,
  type RefObject,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useView } from "../../_hooks/use-view.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { Button, IconButton } from "../../_ui/button.tsx";
import { ArrowUp, CornerDownLeft, Paperclip, Square } from "../../_ui/icons.tsx";
import { UploadButton } from "../../_ui/upload-button.tsx";
import type { Attachments } from "../_state/attachments.ts";
import { draftKeyOf, readDraft, saveDraft } from "../_state/drafts.ts";
import { prepareTurn } from "../_state/live-chat.ts";
import type { WrittenMessage } from "../_state/message-parts.ts";

const AttachmentList = lazyComponent(() => import("./composer-extras.tsx"), "AttachmentList");

const countFiles = (count: number): string => (count === 1 ? "1 file" : `${count} files`);

export interface ComposerProps {
  readonly draftKey: string;
  readonly attachments: Attachments;
  readonly isBusy: boolean;
  readonly isStopping?: boolean;
  /** False until the chat is loaded. */
  readonly canSend?: boolean;
  /** Restored to the box, with its files among the attachments. */
  readonly returned: WrittenMessage | null;
  readonly onReturnedTaken: () => void;
  readonly placeholder: string;
  readonly onSend: (text: string, files: readonly FileUIPart[]) => void;
  /** Absent while a chat is started, whose turn cannot be stopped yet. No message waits for it, either. */
  readonly onStop?: () => void;
  readonly children?: ReactNode;
}

/** The form for writing a message. It has its own text: a keystroke renders nothing else of a chat. */
export function Composer(props: ComposerProps) {
  const { draftKey, attachments, returned, placeholder, children } = props;
  const { isBusy, isStopping = false, canSend = true } = props;
  const { onReturnedTaken, onSend, onStop } = props;
  const box = useRef<HTMLTextAreaElement>(null);
  const [text, setText, clearDraft] = useDraft(draftKey, box);
  const { files, notice } = useView(attachments);
  const isEmpty = text.trim() === "" && files.length === 0;
  const uploading = files.filter(({ state }) => state.kind === "uploading").length;
  const failed = files.filter(({ state }) => state.kind === "failed").length;
  const blocker =
    failed > 0
      ? "Retry or remove the files that failed"
      : uploading > 0
        ? "Files are still uploading"
        : null;
  useEffect(() => attachments.resume(), [attachments]);
  useEffect(() => {
    if (!isEmpty) prepareTurn();
  }, [isEmpty]);
  const isReady = !isEmpty && canSend && blocker === null && (!isBusy || onStop !== undefined);

  const takeBack = useEffectEvent((message: WrittenMessage) => {
    setText((typed) => [message.text, typed].filter((one) => one?.trim()).join("\n\n"));
    if (message.files.length > 0) attachments.restore(message.files);
    onReturnedTaken();
  });
  useEffect(() => {
    if (returned) takeBack(returned);
  }, [returned]);

  useEffect(() => {
    // On a phone, the keyboard would cover half of the page.
    if (!matchMedia("(pointer: coarse)").matches) box.current?.focus({ preventScroll: true });
  }, []);

  const send = () => {
    if (!isReady) return;
    onSend(text.trim(), attachments.take());
    clearDraft();
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
      <div className="rounded-2xl border border-input bg-surface shadow-sm transition-[border-color,box-shadow] focus-within:border-ring focus-within:shadow-md">
        <p role="status" className="sr-only">
          {failed > 0 && `${countFiles(failed)} could not be attached`}
          {failed === 0 && uploading > 0 && `Uploading ${countFiles(uploading)}`}
          {failed + uploading === 0 && files.length > 0 && `${countFiles(files.length)} attached`}
        </p>
        {notice !== null && (
          <p role="alert" className="px-4 pt-3 text-sm text-danger-text">
            {notice}
          </p>
        )}
        {files.length > 0 && <AttachmentList {...{ attachments, files }} />}
        <textarea
          ref={box}
          rows={1}
          value={text}
          aria-label="Message"
          placeholder={placeholder}
          onChange={({ target }) => setText(target.value)}
          onPaste={(event) => {
            const pasted = [...event.clipboardData.files];
            if (pasted.length === 0) return;
            event.preventDefault();
            attachments.add(pasted);
          }}
          onKeyDown={(event) => {
            const isPlain = !event.shiftKey && !event.nativeEvent.isComposing;
            if (event.key !== "Enter" || !isPlain || matchMedia("(pointer: coarse)").matches)
              return;
            event.preventDefault();
            send();
          }}
          className="block field-sizing-content max-h-[40vh] min-h-11 w-full resize-none bg-transparent px-4 pt-3.5 pb-1 outline-none focus-visible:outline-none max-sm:text-[16px]"
        />
        <div className="flex items-center justify-between gap-2 px-2 pb-2">
          <div className="flex min-w-0 items-center gap-0.5">
            <UploadButton
              icon={Paperclip}
              multiple
              aria-label="Attach files"
              variant="quiet"
              size="icon"
              corners="large"
              title="Attach files, or drop or paste them"
              onFiles={attachments.add}
            />
            {children}
          </div>
          <div className="flex items-center gap-1.5">
            {isBusy && (
              <Button
                variant="outline"
                size="sm"
                className="h-8"
                busy={isStopping || !onStop}
                title="Stop (Esc)"
                onClick={onStop}
              >
                <Square aria-hidden className="size-3! fill-current" />
                Stop
              </Button>
            )}
            {!isBusy && (
              <IconButton
                icon={ArrowUp}
                isLarge
                type="submit"
                label="Send"
                title={blocker ?? "Send (Enter)"}
                variant="primary"
                corners="round"
                disabled={!isReady}
                className="disabled:bg-hover disabled:text-muted-foreground disabled:opacity-100"
              />
            )}
            {isBusy && onStop && !isEmpty && (
              <Button
                icon={CornerDownLeft}
                type="submit"
                size="sm"
                className="h-8"
                title={blocker ?? "Send at the agent’s next step (Enter)"}
                disabled={!isReady}
              >
                Send
              </Button>
            )}
          </div>
        </div>
      </div>
    </form>
  );
}

/**
 * A draft that survives a reload, and starts with the text typed before hydration. It is null until
 * then, because the server has no draft.
 */
function useDraft(name: string, box: RefObject<HTMLTextAreaElement | null>) {
  // Another account may have signed in when the text is saved.
  const key = useMemo(() => (typeof window === "undefined" ? "" : draftKeyOf(name)), [name]);
  const [text, setText] = useState<string | null>(null);
  useLayoutEffect(
    () => setText((known) => known ?? (box.current?.value || readDraft(key))),
    [key, box],
  );
  useEffect(() => {
    if (text !== null) saveDraft(key, text);
  }, [key, text]);
  const clear = () => {
    setText("");
    saveDraft(key, "");
  };
  return [text ?? "", setText, clear] as const;
}
