"use client";
import type { FileUIPart } from "ai";
import { useCallback } from "react";
import { ConversationComposer } from "../chat/_conversation/conversation-composer.tsx";
import { MessageList } from "../chat/_conversation/message-list.tsx";
import { useConversation } from "../chat/_conversation/use-conversation.ts";
import type { Attachments } from "../chat/_state/attachments.ts";
import type { WrittenMessage } from "../chat/_state/message-parts.ts";
import { FilesSessionContext } from "../chat/_tools/file-link.tsx";

/** The conversation of the playground. */
export function PlaygroundChat({
  sessionId,
  chatId,
  attachments,
  isStarting,
  returned,
  onReturnedTaken,
  onSend,
}: {
  readonly sessionId: string;
  readonly chatId: string;
  readonly attachments: Attachments;
  /** True while the chat is set up for a message. */
  readonly isStarting: boolean;
  readonly returned: WrittenMessage | null;
  readonly onReturnedTaken: () => void;
  readonly onSend: (text: string, files: readonly FileUIPart[]) => void;
}) {
  const shown = useConversation(sessionId, chatId);
  const { conversation, view, messages } = shown;
  const takeReturned = useCallback(() => {
    onReturnedTaken();
    conversation.takeReturned();
  }, [conversation, onReturnedTaken]);
  return (
    <>
      <FilesSessionContext value={sessionId}>
        <MessageList
          messages={messages}
          sentMessageId={view.sentMessageId}
          isBusy={view.isReading}
          onAnswer={conversation.answer}
        />
      </FilesSessionContext>
      <ConversationComposer
        shown={shown}
        attachments={attachments}
        canSend={view.phase === "ready" && !isStarting}
        returned={view.returned ?? returned}
        onReturnedTaken={takeReturned}
        placeholder="Message the agent"
        onSend={onSend}
        onRetry={null}
      />
    </>
  );
}
