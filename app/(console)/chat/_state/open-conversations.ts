/**
 * The conversations of this tab. One whose turn is being read goes on being read while another chat
 * is shown, and is found as it is when its page comes back.
 */
import { fetchWithBearer } from "../../_hooks/api.ts";
import { onChats, tellChats } from "./channel.ts";
import { Conversation } from "./conversation.ts";
import { untilRetry } from "./until-retry.ts";

interface Entry {
  readonly conversation: Conversation;
  readonly stopListening: () => void;
  shown: number;
}

const open = new Map<string, Entry>();

export function openConversation(sessionId: string, chatId: string): Conversation {
  const known = open.get(chatId);
  if (known) return known.conversation;
  const conversation = new Conversation({
    sessionId,
    chatId,
    fetch: (path, init) =>
      fetchWithBearer(path, {
        ...init,
        ...(init.body === undefined ? {} : { headers: { "content-type": "application/json" } }),
      }),
    untilRetry,
    onTurn(what) {
      tellChats({ sessionId, chatId, what });
      drop(chatId);
    },
  });
  const stopListening = onChats((event, isOwn) => {
    const isMine =
      event.sessionId === sessionId && (event.chatId === chatId || event.chatId === null);
    if (!isMine) return;
    if (event.what === "deleted") conversation.showMissing();
    // What this tab does to its own turn it knows.
    else if (!isOwn || event.what === "changed") void conversation.refresh();
  });
  open.set(chatId, { conversation, stopListening, shown: 0 });
  return conversation;
}

/** A page shows the conversation, until it calls what it gets. */
export function holdConversation(chatId: string): () => void {
  const entry = open.get(chatId);
  if (entry) entry.shown++;
  return () => {
    if (entry) entry.shown--;
    // A page that is drawn anew takes hold of it again at once.
    queueMicrotask(() => drop(chatId));
  };
}

/** Closes what nobody shows and no turn is read of. */
function drop(chatId: string): void {
  const entry = open.get(chatId);
  if (!entry || entry.shown > 0 || entry.conversation.isReading) return;
  open.delete(chatId);
  entry.stopListening();
  entry.conversation.close();
}
