/**
 * The conversations of this tab. A conversation whose turn is being read stays open while another
 * chat is shown, so that returning to it shows its current state.
 */
import { fetchSignedIn } from "../../_api/request.ts";
import { waitForRetry } from "../../_load/wait-for-retry.ts";
import { onChatEvent, publishChatEvent } from "./chat-events.ts";
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

/** Keeps the conversation open until the returned function is called. */
export function retainConversation(chatId: string): () => void {
  const entry = open.get(chatId);
  if (entry) entry.retainCount++;
  return () => {
    if (entry) entry.retainCount--;
    // A page that is mounted again retains it before this runs.
    queueMicrotask(() => closeIfUnused(chatId));
  };
}

function closeIfUnused(chatId: string): void {
  const entry = open.get(chatId);
  if (!entry || entry.retainCount > 0 || entry.conversation.isReading) return;
  open.delete(chatId);
  entry.stopListening();
  entry.conversation.close();
}
