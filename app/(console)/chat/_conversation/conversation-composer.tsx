import type { UIMessage } from "ai";
import { useEffect, useState } from "react";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { ButtonLink, IconButton } from "../../_ui/button.tsx";
import { CircleAlert, WifiOff, X } from "../../_ui/icons.tsx";
import type { ConversationView } from "../_state/conversation.ts";
import { askingRun, isOpenQuestion } from "../_state/message-parts.ts";
import type { ShownConversation } from "../_state/open-conversations.ts";
import { textAt } from "../_state/tool-call.ts";
import { Composer, type ComposerProps } from "./composer.tsx";

const QueuedMessages = lazyComponent(() => import("./composer-extras.tsx"), "QueuedMessages");

interface ConversationComposerProps
  extends Omit<ComposerProps, "draftKey" | "isBusy" | "isStopping" | "onStop"> {
  readonly shown: ShownConversation;
}

/** The end of a conversation: its notices, the messages that wait, and the form for the next one. */
export function ConversationComposer({ shown, ...composer }: ConversationComposerProps) {
  const { conversation, view, messages, isBusy } = shown;
  useEscape(isBusy ? conversation.stop : null);
  return (
    <div className="relative before:pointer-events-none before:absolute before:inset-x-0 before:-top-8 before:h-8 before:bg-linear-to-t before:from-background">
      <Notices view={view} messages={messages} onDismiss={conversation.dismissError} />
      {view.queued.length > 0 && (
        <QueuedMessages conversation={conversation} queued={view.queued} messages={messages} />
      )}
      <Composer
        {...composer}
        draftKey={conversation.chatId}
        isBusy={isBusy}
        isStopping={view.isStopping}
        onStop={conversation.stop}
      />
    </div>
  );
}

/** Calls `action` on Escape, unless a dialog or a menu handles the key. Null disables it. */
function useEscape(action: (() => void) | null): void {
  useEffect(() => {
    if (action === null) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented && !event.isComposing) action();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [action]);
}

/** Shorter interruptions are not shown. */
const NOTICE_DELAY_MS = 800;
/** Screen readers may miss text that a new page contains from the start. */
const ANNOUNCEMENT_DELAY_MS = 300;

interface NoticesProps {
  readonly view: Pick<ConversationView, "connection" | "error" | "isReading">;
  readonly messages: readonly UIMessage[];
  readonly onDismiss: () => void;
}

/** Shows a lost connection and the last error, and announces turns to screen readers. */
export function Notices({ view, messages, onDismiss }: NoticesProps) {
  const { connection, error, isReading } = view;
  const isLost = useDelayedTrue(connection === "lost", NOTICE_DELAY_MS);
  const isAnnounced = useDelayedTrue(isReading, ANNOUNCEMENT_DELAY_MS);
  const [wasBusy, setWasBusy] = useState(isReading);
  if (isReading && !wasBusy) setWasBusy(true);
  const begun = isAnnounced ? "The agent is answering…" : "";
  const ended = wasBusy && !error ? endOf(messages.at(-1)) : "";
  return (
    <div className="mx-auto w-full max-w-3xl px-4">
      {/*
       * Elements with `aria-live` are not hidden behind dialogs. Otherwise they would be read again
       * when a dialog closes.
       */}
      <p className="sr-only" role="status" aria-live="polite">
        {isReading ? begun : ended}
      </p>
      <div role="status">
        {isLost && (
          <p className="mb-2 flex items-center gap-2 rounded-lg bg-warning-soft px-3 py-2 text-sm text-warning-text">
            <WifiOff aria-hidden className="size-4 shrink-0" />
            Connection lost. Reconnecting…
          </p>
        )}
      </div>
      {error && (
        <div
          role="alert"
          className="mb-2 flex items-start gap-2 rounded-lg bg-danger-soft px-3 py-2 text-sm text-danger-text"
        >
          <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
            {error.text}
            {error.requestId !== null && (
              <span className="block text-xs">Request ID: {error.requestId}</span>
            )}
          </p>
          {error.link && (
            <ButtonLink href={error.link.href} variant="outline" size="sm" className="-my-0.5">
              {error.link.label}
            </ButtonLink>
          )}
          <IconButton icon={X} label="Dismiss" className="-m-1 text-inherit" onClick={onDismiss} />
        </div>
      )}
    </div>
  );
}

function endOf(last: UIMessage | undefined): string {
  if (last?.parts.some(isOpenQuestion)) return "The agent has a question";
  if (askingRun(last) !== null) return "The agent asks for your approval";
  const reason = textAt(last?.metadata, "finishReason");
  if (reason === "error") return "";
  return reason === "interrupted" ? "The answer was stopped" : "The agent has answered";
}

/** Returns true once `value` has been true for `ms` milliseconds, and false as soon as it is false. */
function useDelayedTrue(value: boolean, ms: number): boolean {
  const [isDelayed, setDelayed] = useState(false);
  useEffect(() => {
    if (!value) return;
    const timer = setTimeout(() => setDelayed(true), ms);
    return () => {
      clearTimeout(timer);
      setDelayed(false);
    };
  }, [value, ms]);
  return value && isDelayed;
}
