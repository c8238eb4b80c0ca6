"use client";
import { useChat } from "@ai-sdk/react";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import {
  holdConversation,
  openConversation,
} from "@/app/(console)/chat/_state/open-conversations.ts";

/** Milliseconds between two drawings of a text that streams in. */
const PACE = 50;

/** The chat as it is now, kept up to date while the page shows it. */
export function useConversation(sessionId: string, chatId: string) {
  const conversation = useMemo(() => openConversation(sessionId, chatId), [sessionId, chatId]);
  const view = useSyncExternalStore(
    conversation.subscribe,
    conversation.getView,
    conversation.getView,
  );
  const { messages } = useChat({ chat: conversation.chat, throttle: PACE });
  useEffect(() => {
    const letGo = holdConversation(chatId);
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
      letGo();
    };
  }, [conversation, chatId]);
  return { conversation, view, messages };
}
