/**
 * The conversations of this tab. One whose turn is streaming stays open while another chat is
 * shown, so returning to it shows its current state.
 */
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { fetchSignedIn } from "../../_api/request.ts";
import { useView } from "../../_hooks/use-view.ts";
import { waitForRetry } from "../../_load/wait-for-retry.ts";
import { onChatEvent, publishChatEvent, showChat } from "./chat-events.ts";
import { Conversation } from "./conversation.ts";
import { forgetUnsent, keepUnsent, readUnsent } from "./drafts.ts";

interface Entry {
  readonly conversation: Conversation;
  readonly stopListening: () => void;
  retainCount: number;
}

const open = new Map<string, Entry>();

export function openConversation(sessionId: string, chatId: string): Conversation {
  const known = open.get(chatId);
  if (known) return known.conversation;
  const conversation = new Conversation({
    sessionId,
    chatId,
    baseUrl: typeof window === "undefined" ? "http://localhost" : location.origin,
    fetch: fetchSignedIn,
    waitForRetry,
    outbox: {
      read: () => readUnsent(chatId),
      keep: (message) => keepUnsent({ ...message, draftKey: chatId, chat: { sessionId, chatId } }),
      forget: forgetUnsent,
    },
    onTurn(type) {
      if (type !== "refused") publishChatEvent({ sessionId, chatId, type });
      closeIfUnused(chatId);
    },
    onBranch: () => publishChatEvent({ sessionId, chatId, type: "branch" }),
  });
  // A server renders the pages of many people: it keeps none of their chats.
  if (typeof window === "undefined") return conversation;
  const stopListening = onChatEvent((event, isOwn) => {
    const isMine =
      event.sessionId === sessionId && (event.chatId === chatId || event.chatId === null);
    if (!isMine) return;
    if (event.type === "deleted") conversation.showMissing();
    // This tab already knows what happens to its own turns.
    else if (!isOwn || event.type === "changed") void conversation.refresh();
  });
  open.set(chatId, { conversation, stopListening, retainCount: 0 });
  return conversation;
}

export type ShownConversation = ReturnType<typeof useConversation>;

/**
 * Returns the state of a chat and keeps it up to date while the component is mounted. The chat is busy
 * while a turn is read or messages wait.
 */
export function useConversation(sessionId: string, chatId: string) {
  const conversation = useMemo(() => openConversation(sessionId, chatId), [sessionId, chatId]);
  const view = useView(conversation);
  const { chat } = conversation;
  const messages = useSyncExternalStore(chat.subscribe, chat.getShown, chat.getShown);
  useEffect(() => {
    const entry = open.get(chatId);
    if (entry) entry.retainCount++;
    const hide = showChat(chatId, conversation);
    const refresh = () => {
      if (document.visibilityState === "visible") void conversation.refresh();
    };
    refresh();
    const left = new AbortController();
    const { signal } = left;
    document.addEventListener("visibilitychange", refresh, { signal });
    for (const type of ["focus", "online"]) window.addEventListener(type, refresh, { signal });
    return () => {
      left.abort();
      hide();
      if (entry) entry.retainCount--;
      // A page that is mounted again retains it before this runs.
      queueMicrotask(() => closeIfUnused(chatId));
    };
  }, [conversation, chatId]);
  return { conversation, view, messages, isBusy: view.isReading || view.queued.length > 0 };
}

function closeIfUnused(chatId: string): void {
  const entry = open.get(chatId);
  if (!entry || entry.retainCount > 0 || entry.conversation.isReading) return;
  open.delete(chatId);
  entry.stopListening();
  entry.conversation.close();
}
