"use client";
import type { FileUIPart } from "ai";
import { useCallback, useMemo } from "react";
import { Composer, type ReturnedMessage } from "../chat/_conversation/composer.tsx";
import { MessageList } from "../chat/_conversation/message-list.tsx";
import { Notices } from "../chat/_conversation/notices.tsx";
import { QueuedMessages, useQueuedMessages } from "../chat/_conversation/queued-messages.tsx";
import { useConversation } from "../chat/_conversation/use-conversation.ts";
import { useEscape } from "../chat/_conversation/use-escape.ts";
import { FilesSessionContext } from "../chat/_message/message-files.tsx";
import type { Attachments } from "../chat/_state/attachments.ts";

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
  readonly returned: ReturnedMessage | null;
  readonly onReturnedTaken: () => void;
  readonly onSend: (text: string, files: readonly FileUIPart[]) => void;
}) {
  const { conversation, view, messages } = useConversation(sessionId, chatId);
  const queued = useQueuedMessages(conversation);
  const isBusy = view.isReading || queued.length > 0;
  const stop = useCallback(() => void conversation.stop(), [conversation]);
  const answer = useCallback(
    (toolCallId: string, output: unknown) => void conversation.answer(toolCallId, output),
    [conversation],
  );
  useEscape(isBusy ? stop : null);
  const { returnedText, returnedFiles } = view;
  const refused = useMemo(
    () => (returnedText === null ? null : { text: returnedText, files: returnedFiles }),
    [returnedText, returnedFiles],
  );
  const takeReturned = useCallback(() => {
    onReturnedTaken();
    conversation.takeReturnedText();
  }, [conversation, onReturnedTaken]);
  return (
    <>
      <FilesSessionContext value={sessionId}>
        <MessageList
          messages={messages}
          sentMessageId={view.sentMessageId}
          isBusy={view.isReading}
          onAnswer={answer}
        />
      </FilesSessionContext>
      <div className="relative before:pointer-events-none before:absolute before:inset-x-0 before:-top-8 before:h-8 before:bg-linear-to-t before:from-background">
        <Notices view={view} onRetry={null} onDismiss={() => conversation.dismissError()} />
        <QueuedMessages conversation={conversation} messages={queued} />
        <Composer
          draftKey={chatId}
          attachments={attachments}
          isBusy={isBusy}
          canQueue
          isStopping={view.isStopping}
          canSend={view.phase === "ready" && !isStarting}
          returned={refused ?? returned}
          onReturnedTaken={takeReturned}
          placeholder="Message the agent"
          onSend={onSend}
          onStop={stop}
        />
      </div>
    </>
  );
}
