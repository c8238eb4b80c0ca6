import { useEffect, useMemo, useSyncExternalStore } from "react";
import { useView } from "../../_hooks/use-view.ts";
import { shownChats } from "../_state/chat-events.ts";
import { openConversation, retainConversation } from "../_state/open-conversations.ts";

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
    const release = retainConversation(chatId);
    shownChats.add(chatId);
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
      shownChats.delete(chatId);
      release();
    };
  }, [conversation, chatId]);
  return { conversation, view, messages, isBusy: view.isReading || view.queued.length > 0 };
}
