"use client";
import type { UIMessage } from "ai";
import { useSearchParams } from "next/navigation";
import { useEffect, useMemo, useState } from "react";
import { ChatConnectors } from "../../_connectors/connectors-picker.tsx";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { ModelPicker } from "../../_models/model-picker.tsx";
import { Button } from "../../_ui/button.tsx";
import { FolderTree, MessageSquarePlus } from "../../_ui/icons.tsx";
import { ErrorState, Missing, Skeleton } from "../../_ui/states.tsx";
import { TitleMenu } from "../_list/row.tsx";
import { titleOfChat } from "../_list/use-chat-list.ts";
import { MessageActionsContext } from "../_message/message-actions.ts";
import type { ChatAddress } from "../_state/attachment.ts";
import { attachmentsOf } from "../_state/attachments.ts";
import type { ConnectionState } from "../_state/live-chat.ts";
import { askingRun, fromParts, isOpenQuestion } from "../_state/message-parts.ts";
import { useConversation } from "../_state/open-conversations.ts";
import { SandboxFilesContext } from "../_tools/file-link.tsx";
import { ContextGauge } from "./context-gauge.tsx";
import { ConversationComposer } from "./conversation-composer.tsx";
import { FileDrop } from "./file-drop.tsx";
import { MessageList } from "./message-list.tsx";

const CodeDialog = lazyComponent(
  () => import("../../_snippets/code-dialog.tsx"),
  "StoredChatCodeDialog",
);
const ChatTemplateUpdate = lazyComponent(
  () => import("../../templates/template-update.tsx"),
  "ChatTemplateUpdate",
);
const FilesPanel = lazyComponent(() => import("../_files/files-panel.tsx"), "FilesPanel");

export function ConversationPage({ sessionId, chatId }: ChatAddress) {
  const shown = useConversation(sessionId, chatId);
  const { conversation, view, messages, isBusy } = shown;
  const { phase, chat, error, isReading } = view;
  const attachments = useMemo(() => attachmentsOf(sessionId, chatId), [sessionId, chatId]);
  const [files, setFiles] = useState<{ readonly path: string | null } | null>(null);
  const [isCodeOpen, setCodeOpen] = useState(false);
  const params = useSearchParams();
  const found = useMemo(() => {
    const id = params.get("message");
    return id === null ? null : { id, words: params.get("find") ?? "" };
  }, [params]);
  const sandboxFiles = useMemo(
    () => ({ sessionId, open: (path: string) => setFiles({ path }) }),
    [sessionId],
  );
  const { siblings, ratings } = view;
  const last = messages.at(-1);
  const lastMessageId = last?.id;
  const isAsking = askingRun(last) !== null;
  // A turn that was there when the chat was read is joined in a moment.
  const isAnswering = isBusy || isAsking || (chat !== null && chat.activeStreamId !== null);
  const actions = useMemo(
    () => ({ conversation, siblings, ratings, isBusy: isAnswering, lastMessageId }),
    [conversation, siblings, ratings, isAnswering, lastMessageId],
  );
  useDocumentTitle(chat && `${titleOfChat(chat)} · Agent Platform`);

  if (phase === "missing") {
    return (
      <div className="mx-auto max-w-lg px-4 py-16">
        <Missing
          icon={MessageSquarePlus}
          title="Chat not found"
          text="It was deleted, or it belongs to another account."
          href="/chat"
          link="Start a new chat"
        />
      </div>
    );
  }
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
  const hasQuestion = (isAsking || last?.parts.some(isOpenQuestion) === true) && !isReading;
  return (
    <div className="flex h-full min-w-0">
      <FileDrop onFiles={attachments.add} className="relative flex h-full min-w-0 flex-1 flex-col">
        {/* On a phone, it covers the brand in the bar of all pages. */}
        <header
          data-page-header
          className="flex h-13 shrink-0 items-center gap-3 border-b px-4 max-md:fixed max-md:inset-x-12 max-md:top-0 max-md:h-[47px] max-md:border-0 max-md:bg-sidebar max-md:px-2"
        >
          <div className="min-w-0 flex-1">
            {chat ? (
              <TitleMenu chat={chat} onCode={() => setCodeOpen(true)} />
            ) : (
              <h1>
                <Skeleton className="h-5 w-48 max-w-full" />
              </h1>
            )}
          </div>
          <Button
            icon={FolderTree}
            variant="ghost"
            size="sm"
            className="h-8"
            aria-pressed={files !== null}
            onClick={() => setFiles(files === null ? { path: null } : null)}
          >
            <span className="max-sm:sr-only">Files</span>
          </Button>
        </header>
        {phase === "loading" ? (
          <ConversationSkeleton connection={view.connection} />
        ) : (
          <SandboxFilesContext value={sandboxFiles}>
            <MessageActionsContext value={actions}>
              <MessageList
                messages={messages}
                sentMessageId={view.sentMessageId}
                isBusy={isReading}
                answering={conversation}
                found={found}
              />
            </MessageActionsContext>
          </SandboxFilesContext>
        )}
        {chat?.template_update && <ChatTemplateUpdate chat={chat} conversation={conversation} />}
        <ConversationComposer
          shown={shown}
          attachments={attachments}
          canSend={phase === "ready"}
          returned={view.returned}
          onReturnedTaken={conversation.takeReturned}
          placeholder={placeholderFor(isBusy, hasQuestion)}
          onSend={conversation.send}
        >
          {chat && (
            <>
              <ModelPicker
                value={chat.modelId}
                {...(view.model && { known: view.model })}
                options={chat}
                onChoose={(modelId) => void conversation.changeChat({ modelId })}
                onOptions={(options) => void conversation.changeChat(options)}
              />
              <ContextGauge
                key={chatId}
                sessionId={sessionId}
                chatId={chatId}
                version={isAnswering ? null : `${chat.modelId} ${lastMessageId}`}
              />
              <ChatConnectors
                address={{ sessionId, chatId }}
                chosen={view.connectors}
                onChosen={conversation.showConnectors}
              />
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
  );
}

function newestTextOf(messages: readonly UIMessage[]): string {
  const newest = messages.findLast((message) => message.role === "user");
  return newest ? fromParts(newest.parts).text : "";
}

function placeholderFor(isBusy: boolean, hasQuestion: boolean): string {
  if (hasQuestion) return "Answer above, or send a message";
  return isBusy ? "Queue a message for when the agent is done" : "Message the agent";
}

const ConversationSkeleton = ({ connection }: { readonly connection: ConnectionState }) => (
  <div aria-busy="true" className="min-h-0 flex-1 overflow-hidden px-4 pt-6">
    <p className="sr-only" role="status">
      {connection === "live" ? "Loading chat…" : "Connection lost. Reconnecting…"}
    </p>
    <div className="mx-auto flex max-w-3xl flex-col gap-6">
      <Skeleton className="h-9 w-2/5 self-end rounded-2xl" />
      <div className="flex flex-col gap-2">
        <Skeleton className="h-5 w-11/12" />
        <Skeleton className="h-5 w-4/5" />
        <Skeleton className="h-5 w-3/5" />
      </div>
    </div>
  </div>
);

/**
 * Sets the document title once the page has loaded its data. Next.js inserts the title of the page
 * later than the page. If there is none yet, setting one would create an element that no later page
 * removes, and that Next.js reads aloud as the name of every page that is opened.
 */
function useDocumentTitle(title: string | null): void {
  useEffect(() => {
    if (title === null) return;
    const { pathname } = location;
    const show = () => {
      // The next page has brought its title before this one is gone.
      if (location.pathname !== pathname) return;
      const element = document.head.querySelector("title");
      if (element && element.textContent !== title) element.textContent = title;
    };
    show();
    const observer = new MutationObserver(show);
    observer.observe(document.head, { childList: true, subtree: true, characterData: true });
    return () => observer.disconnect();
  }, [title]);
}
