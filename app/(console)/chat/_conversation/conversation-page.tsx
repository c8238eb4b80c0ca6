"use client";
import { MessageSquareOff } from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { titleOfChat } from "@/app/(console)/chat/_list/chat-list.ts";
import { isOpenQuestion } from "@/app/(console)/chat/_state/stored-messages.ts";
import { textAt } from "@/app/(console)/chat/_state/tool-call.ts";
import { buttonStyle } from "../../_ui/button.tsx";
import { EmptyState } from "../../_ui/empty-state.tsx";
import { ErrorState } from "../../_ui/error-state.tsx";
import { MessageActionsContext } from "../_message/message-actions.ts";
import { OpenFileContext } from "../_tools/file-link.tsx";
import { Composer } from "./composer.tsx";
import { ConversationHeader } from "./conversation-header.tsx";
import { ConversationSkeleton } from "./conversation-skeleton.tsx";
import { MessageList } from "./message-list.tsx";
import { ModelSelect } from "./model-select.tsx";
import { Notices } from "./notices.tsx";
import { useConversation } from "./use-conversation.ts";
import { useEscape } from "./use-escape.ts";

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
  const { phase, chat, error, isReading: isBusy } = view;
  const [files, setFiles] = useState<{ readonly path: string | null } | null>(null);
  const openFile = useCallback((path: string) => setFiles({ path }), []);
  const send = useCallback((text: string) => void conversation.send(text), [conversation]);
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
  const canRetry =
    !isBusy && (last?.role === "user" || textAt(last?.metadata, "finishReason") === "error");
  const actions = useMemo(
    () => ({
      ...{ siblings, ratings, isBusy, lastMessageId, hasError, nextArrow },
      branches: conversation.branches,
    }),
    [conversation, siblings, ratings, isBusy, lastMessageId, hasError],
  );
  const takeReturnedText = useCallback(() => conversation.takeReturnedText(), [conversation]);
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
  const hasQuestion = messages.at(-1)?.parts.some(isOpenQuestion) === true && !isBusy;
  return (
    <OpenFileContext value={openFile}>
      <div className="flex h-full min-w-0">
        <div className="flex h-full min-w-0 flex-1 flex-col">
          <ConversationHeader
            chat={chat}
            isFilesOpen={files !== null}
            onToggleFiles={() => setFiles(files === null ? { path: null } : null)}
          />
          {phase === "loading" ? (
            <ConversationSkeleton connection={view.connection} />
          ) : (
            <MessageActionsContext value={actions}>
              <MessageList
                messages={messages}
                sentMessageId={view.sentMessageId}
                isBusy={isBusy}
                onAnswer={answer}
              />
            </MessageActionsContext>
          )}
          <Notices
            view={view}
            onRetry={
              canRetry && lastMessageId !== undefined
                ? () => void conversation.branches.regenerate(lastMessageId)
                : null
            }
            onDismiss={() => conversation.dismissError()}
          />
          <Composer
            draftKey={chatId}
            isBusy={isBusy}
            isStopping={view.isStopping}
            canSend={phase === "ready"}
            returnedText={view.returnedText}
            onReturnedTextTaken={takeReturnedText}
            placeholder={hasQuestion ? "Answer above, or send a message" : "Message the agent"}
            onSend={send}
            onStop={stop}
          >
            {chat && (
              <ModelSelect
                value={chat.modelId}
                onChoose={(modelId) => conversation.chooseModel(modelId)}
              />
            )}
          </Composer>
        </div>
        {files !== null && (
          <FilesPanel
            sessionId={sessionId}
            path={files.path}
            isBusy={isBusy}
            onOpen={(path) => setFiles({ path })}
            onClose={() => setFiles(null)}
          />
        )}
      </div>
    </OpenFileContext>
  );
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
