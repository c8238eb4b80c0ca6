"use client";
import type { UIMessage } from "ai";
import { MessageSquareOff } from "lucide-react";
import Link from "next/link";
import { useCallback, useMemo, useRef, useState } from "react";
import { titleOfChat } from "@/app/(console)/chat/_list/use-chat-list.ts";
import { attachmentsOf } from "@/app/(console)/chat/_state/attachments.ts";
import { fromParts } from "@/app/(console)/chat/_state/message-parts.ts";
import { isOpenQuestion } from "@/app/(console)/chat/_state/stored-messages.ts";
import { textAt } from "@/app/(console)/chat/_state/tool-call.ts";
import { ChatConnectors } from "../../_connectors/chat-connectors.tsx";
import { useDocumentTitle } from "../../_hooks/use-document-title.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { ModelPicker } from "../../_models/model-picker.tsx";
import { buttonStyle } from "../../_ui/button.tsx";
import { EmptyState } from "../../_ui/empty-state.tsx";
import { ErrorState } from "../../_ui/error-state.tsx";
import { MessageActionsContext } from "../_message/message-actions.ts";
import { FilesSessionContext, OpenFileContext } from "../_tools/file-link.tsx";
import { ConversationComposer } from "./conversation-composer.tsx";
import { ConversationHeader } from "./conversation-header.tsx";
import { ConversationSkeleton } from "./conversation-skeleton.tsx";
import { FileDrop } from "./file-drop.tsx";
import { MessageList } from "./message-list.tsx";
import { useConversation } from "./use-conversation.ts";

const CodeDialog = lazyComponent(() =>
  import("../../_snippets/code-dialog.tsx").then((module) => module.StoredChatCodeDialog),
);
const FilesPanel = lazyComponent(() =>
  import("../_files/files-panel.tsx").then((module) => module.FilesPanel),
);

export function ConversationPage({
  sessionId,
  chatId,
}: {
  readonly sessionId: string;
  readonly chatId: string;
}) {
  const shown = useConversation(sessionId, chatId);
  const { conversation, view, messages, isBusy } = shown;
  const { phase, chat, error, isReading } = view;
  const attachments = useMemo(() => attachmentsOf(sessionId, chatId), [sessionId, chatId]);
  const [files, setFiles] = useState<{ readonly path: string | null } | null>(null);
  const [isCodeOpen, setCodeOpen] = useState(false);
  const openFile = useCallback((path: string) => setFiles({ path }), []);
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
  const title = chat ? titleOfChat(chat) : "";
  useDocumentTitle(title === "" ? "" : `${title} · Agent Platform`);

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
                  onAnswer={conversation.answer}
                />
              </MessageActionsContext>
            </FilesSessionContext>
          )}
          <ConversationComposer
            shown={shown}
            attachments={attachments}
            canSend={phase === "ready"}
            returned={view.returned}
            onReturnedTaken={conversation.takeReturned}
            placeholder={placeholderFor(isBusy, hasQuestion)}
            onSend={conversation.send}
            onRetry={
              canRetry && lastMessageId !== undefined
                ? () => void conversation.branches.regenerate(lastMessageId)
                : null
            }
          >
            {chat && (
              <>
                <ModelPicker
                  value={chat.modelId}
                  onChoose={(modelId) => void conversation.chooseModel(modelId)}
                />
                <ChatConnectors sessionId={sessionId} chatId={chatId} />
              </>
            )}
          </ConversationComposer>
        </FileDrop>
        {isCodeOpen && (
          <CodeDialog
            chat={{ sessionId, chatId }}
            description="Sends a message to this chat, and prints the answer while it is written."
            scenario={{
              kind: "chat",
              chat: { sessionId, chatId },
              message: newestTextOf(messages) || "What is the next step?",
              setup: { modelId: null, instructions: null, templateId: null, connectors: [] },
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
  return newest ? fromParts(newest.parts).text : "";
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
        isWholePage
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
