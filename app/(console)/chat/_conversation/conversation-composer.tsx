import type { FileUIPart } from "ai";
import { type ReactNode, useEffect } from "react";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import type { Attachments } from "../_state/attachments.ts";
import type { WrittenMessage } from "../_state/message-parts.ts";
import { Composer } from "./composer.tsx";
import { Notices } from "./notices.tsx";
import type { ShownConversation } from "./use-conversation.ts";

const QueuedMessages = lazyComponent(() => import("./queued-messages.tsx"), "QueuedMessages");

/** The end of a conversation: its notices, the messages that wait, and the form for the next one. */
export function ConversationComposer({
  shown: { conversation, view, messages, isBusy },
  attachments,
  canSend,
  returned,
  onReturnedTaken,
  placeholder,
  onSend,
  children,
}: {
  readonly shown: ShownConversation;
  readonly attachments: Attachments;
  readonly canSend: boolean;
  readonly returned: WrittenMessage | null;
  readonly onReturnedTaken: () => void;
  readonly placeholder: string;
  readonly onSend: (text: string, files: readonly FileUIPart[]) => void;
  readonly children?: ReactNode;
}) {
  useEscape(isBusy ? conversation.stop : null);
  return (
    <div className="relative before:pointer-events-none before:absolute before:inset-x-0 before:-top-8 before:h-8 before:bg-linear-to-t before:from-background">
      <Notices view={view} messages={messages} onDismiss={() => conversation.dismissError()} />
      {view.queued.length > 0 && (
        <QueuedMessages conversation={conversation} queued={view.queued} messages={messages} />
      )}
      <Composer
        draftKey={conversation.chatId}
        attachments={attachments}
        isBusy={isBusy}
        canQueue
        isStopping={view.isStopping}
        canSend={canSend}
        returned={returned}
        onReturnedTaken={onReturnedTaken}
        placeholder={placeholder}
        onSend={onSend}
        onStop={conversation.stop}
      >
        {children}
      </Composer>
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
