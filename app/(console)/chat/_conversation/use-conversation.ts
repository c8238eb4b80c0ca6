"use client";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { shownChats } from "../_state/chat-events.ts";
import { openConversation, retainConversation } from "../_state/open-conversations.ts";

export type ShownConversation = ReturnType<typeof useConversation>;

/**
 * Returns the state of a chat and keeps it up to date while the component is mounted. The chat is busy
 * while a turn is read or messages wait.
 */
export function useConversation(sessionId: string, chatId: string) {
  const conversation = useMemo(() => openConversation(sessionId, chatId), [sessionId, chatId]);
  const view = useSyncExternalStore(
    conversation.subscribe,
    conversation.getView,
    conversation.getView,
  );
  const { chat } = conversation;
  const messages = useSyncExternalStore(chat.subscribe, chat.getShown, chat.getShown);
  useEffect(() => {
    const release = retainConversation(chatId);
    shownChats.add(chatId);
    const refresh = () => {
      if (document.visibilityState === "visible") void conversation.refresh();
    };
    refresh();
    document.addEventListener("visibilitychange", refresh);
    window.addEventListener("focus", refresh);
    window.addEventListener("online", refresh);
    return () => {
      document.removeEventListener("visibilitychange", refresh);
      window.removeEventListener("focus", refresh);
      window.removeEventListener("online", refresh);
      shownChats.delete(chatId);
      release();
    };
  }, [conversation, chatId]);
  return { conversation, view, messages, isBusy: view.isReading || view.queued.length > 0 };
}
