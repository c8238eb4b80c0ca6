"use client";
import type { FileUIPart, UIMessage } from "ai";
import { MessageSquareOff } from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { titleOfChat } from "@/app/(console)/chat/_list/chat-feed.ts";
import { attachmentsOf } from "@/app/(console)/chat/_state/attachments.ts";
import { toReturned } from "@/app/(console)/chat/_state/message-parts.ts";
import { isOpenQuestion } from "@/app/(console)/chat/_state/stored-messages.ts";
import { textAt } from "@/app/(console)/chat/_state/tool-call.ts";
import { ModelPicker } from "../../_models/model-picker.tsx";
import { buttonStyle } from "../../_ui/button.tsx";
import { EmptyState } from "../../_ui/empty-state.tsx";
import { ErrorState } from "../../_ui/error-state.tsx";
import { MessageActionsContext } from "../_message/message-actions.ts";
import { FilesSessionContext } from "../_message/message-files.tsx";
import { OpenFileContext } from "../_tools/file-link.tsx";
import { Composer } from "./composer.tsx";
import { ConversationHeader } from "./conversation-header.tsx";
import { ConversationSkeleton } from "./conversation-skeleton.tsx";
import { FileDrop } from "./file-drop.tsx";
import { MessageList } from "./message-list.tsx";
import { Notices } from "./notices.tsx";
import { QueuedMessages, useQueuedMessages } from "./queued-messages.tsx";
import { useConversation } from "./use-conversation.ts";
import { useEscape } from "./use-escape.ts";

const CodeDialog = dynamic(() =>
  import("../../_snippets/code-dialog.tsx").then((module) => module.CodeDialog),
);
const FilesPanel = dynamic(() =>
  import("../_files/files-panel.tsx").then((module) => module.FilesPanel),
);

export function ConversationPage({
  sessionId,
  chatId,
}: {
  readonly sessionId: string;
  readonly chatId: string;
}) {
  const { conversation, view, messages } = useConversation(sessionId, chatId);
  const { phase, chat, error, isReading } = view;
  const queued = useQueuedMessages(conversation);
  const isBusy = isReading || queued.length > 0;
  const attachments = useMemo(() => attachmentsOf(sessionId, chatId), [sessionId, chatId]);
  const [files, setFiles] = useState<{ readonly path: string | null } | null>(null);
  const [isCodeOpen, setCodeOpen] = useState(false);
  const openFile = useCallback((path: string) => setFiles({ path }), []);
  const send = useCallback(
    (text: string, messageFiles: readonly FileUIPart[]) =>
      void conversation.send(text, messageFiles),
    [conversation],
  );
  const stop = useCallback(() => void conversation.stop(), [conversation]);
  const answer = useCallback(
    (toolCallId: string, output: unknown) => void conversation.answer(toolCallId, output),
    [conversation],
  );
  const nextArrow = useRef<{ messageId: string; direction: -1 | 1 } | null>(null);
  const { siblings, ratings } = view;
  const last = messages.at(-1);
  const lastMessageId = last?.id;
  const hasError = error !== null;
  // A turn that was there when the chat was read is joined in a moment.
  const isAnswering = isBusy || (chat !== null && chat.activeStreamId !== null);
  const canRetry =
    !isAnswering && (last?.role === "user" || textAt(last?.metadata, "finishReason") === "error");
  const actions = useMemo(
    () => ({
      ...{ siblings, ratings, isBusy: isAnswering, lastMessageId, hasError, nextArrow },
      branches: conversation.branches,
    }),
    [conversation, siblings, ratings, isAnswering, lastMessageId, hasError],
  );
  const { returnedText, returnedFiles } = view;
  const returned = useMemo(
    () => (returnedText === null ? null : { text: returnedText, files: returnedFiles }),
    [returnedText, returnedFiles],
  );
  const takeReturned = useCallback(() => conversation.takeReturnedText(), [conversation]);
  useEscape(isBusy ? stop : null);
  const title = chat ? titleOfChat(chat) : "";
  useEffect(() => {
    if (title !== "") document.title = `${title} · Agent Platform`;
  }, [title]);

  if (phase === "missing") return <MissingChat />;
  if (phase === "failed" && error) {
    return (
      <div className="mx-auto max-w-3xl p-4 sm:p-8">
        <ErrorState
          error={{ message: error.text, requestId: error.requestId }}
          onRetry={() => void conversation.refresh()}
        />
      </div>
    );
  }
  const hasQuestion = messages.at(-1)?.parts.some(isOpenQuestion) === true && !isReading;
  return (
    <OpenFileContext value={openFile}>
      <div className="flex h-full min-w-0">
        <FileDrop
          onFiles={(dropped) => attachments.add(dropped)}
          className="relative flex h-full min-w-0 flex-1 flex-col"
        >
          <ConversationHeader
            chat={chat}
            isFilesOpen={files !== null}
            onToggleFiles={() => setFiles(files === null ? { path: null } : null)}
            onViewCode={() => setCodeOpen(true)}
          />
          {phase === "loading" ? (
            <ConversationSkeleton connection={view.connection} />
          ) : (
            <FilesSessionContext value={sessionId}>
              <MessageActionsContext value={actions}>
                <MessageList
                  messages={messages}
                  sentMessageId={view.sentMessageId}
                  isBusy={isReading}
                  onAnswer={answer}
                />
              </MessageActionsContext>
            </FilesSessionContext>
          )}
          <div className="relative before:pointer-events-none before:absolute before:inset-x-0 before:-top-8 before:h-8 before:bg-linear-to-t before:from-background">
            <Notices
              view={view}
              onRetry={
                canRetry && lastMessageId !== undefined
                  ? () => void conversation.branches.regenerate(lastMessageId)
                  : null
              }
              onDismiss={() => conversation.dismissError()}
            />
            <QueuedMessages conversation={conversation} messages={queued} />
            <Composer
              draftKey={chatId}
              attachments={attachments}
              isBusy={isBusy}
              canQueue
              isStopping={view.isStopping}
              canSend={phase === "ready"}
              returned={returned}
              onReturnedTaken={takeReturned}
              placeholder={placeholderFor(isBusy, hasQuestion)}
              onSend={send}
              onStop={stop}
            >
              {chat && (
                <ModelPicker
                  value={chat.modelId}
                  onChoose={(modelId) => void conversation.chooseModel(modelId)}
                />
              )}
            </Composer>
          </div>
        </FileDrop>
        {isCodeOpen && (
          <CodeDialog
            description="Sends a message to this chat, and prints the answer while it is written."
            scenario={{
              kind: "chat",
              chat: { sessionId, chatId },
              message: newestTextOf(messages) || "What is the next step?",
              setup: { modelId: null, instructions: null, templateId: null },
              contextLimit: null,
            }}
            onClose={() => setCodeOpen(false)}
          />
        )}
        {files !== null && (
          <FilesPanel
            sessionId={sessionId}
            path={files.path}
            isBusy={isReading}
            onOpen={(path) => setFiles({ path })}
            onClose={() => setFiles(null)}
          />
        )}
      </div>
    </OpenFileContext>
  );
}

/** Returns what the user has written last. */
function newestTextOf(messages: readonly UIMessage[]): string {
  const newest = messages.findLast((message) => message.role === "user");
  return newest ? toReturned(newest.parts).returnedText : "";
}

function placeholderFor(isBusy: boolean, hasQuestion: boolean): string {
  if (hasQuestion) return "Answer above, or send a message";
  return isBusy ? "Queue a message for when the agent is done" : "Message the agent";
}

function MissingChat() {
  return (
    <div className="mx-auto max-w-lg px-4 py-16">
      <EmptyState
        icon={MessageSquareOff}
        title="Chat not found"
        text="It was deleted, or it belongs to another account."
      >
        <Link href="/chat" prefetch={false} className={buttonStyle()}>
          Start a new chat
        </Link>
      </EmptyState>
    </div>
  );
}
