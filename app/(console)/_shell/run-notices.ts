"use client";
import { useCallback, useEffect, useRef } from "react";
import type { z } from "zod";
import { api } from "@/app/(console)/_api/request.ts";
import { wantsNotifications } from "@/app/(console)/_shell/notification-choice.ts";
import { onChatEvent } from "@/app/(console)/chat/_state/chat-events.ts";
import { shownChats } from "@/app/(console)/chat/_state/shown-chats.ts";
import type { listAccountChatsContract } from "@/lib/sessions/chats-contract.ts";
import type { getChatContract } from "@/lib/sessions/contract.ts";
import type { Chat } from "@/lib/sessions/session.ts";
import { usePoll } from "../_hooks/use-poll.ts";
import { toast } from "../_ui/toast.tsx";

type ChatPage = z.output<(typeof listAccountChatsContract)["responses"][200]["schema"]>;
type OneChat = z.output<(typeof getChatContract)["responses"][200]["schema"]>;

/** How often the newest chats are read, for runs that no tab of this browser follows. */
const POLL_INTERVAL_MS = 15_000;

/**
 * Tells when an answer is complete whose chat is not on the screen. Turns of this tab tell it by
 * themselves; scheduled and headless runs are found among the newest chats.
 */
export function useRunNotices(): void {
  const streams = useRef(new Map<string, string>());
  const told = useRef(new Set<string>());

  const tell = useCallback((chat: Chat) => {
    const ending = `${chat.id} ${chat.lastAssistantMessageAt}`;
    const path = `/chat/${chat.sessionId}/${chat.id}`;
    const isShown = shownChats.has(chat.id) && document.visibilityState === "visible";
    if (told.current.has(ending)) return;
    told.current.add(ending);
    if (!isShown) announce(chat.title || "New chat", path);
  }, []);

  useEffect(
    () =>
      onChatEvent(({ sessionId, chatId, type }, isOwn) => {
        if (type !== "ended" || chatId === null || !isOwn) return;
        const path = `/api/sessions/${sessionId}/chats/${chatId}`;
        void api<OneChat>(path).then((read) => read.ok && tell(read.data.chat));
      }),
    [tell],
  );

  const poll = useCallback(async () => {
    const read = await api<ChatPage>("/api/chats?limit=20");
    if (!read.ok) return;
    const before = streams.current;
    streams.current = new Map();
    for (const chat of read.data.chats) {
      if (chat.activeStreamId !== null) streams.current.set(chat.id, chat.activeStreamId);
      else if (before.has(chat.id)) tell(chat);
    }
  }, [tell]);
  useEffect(() => void poll(), [poll]);
  usePoll(() => void poll(), true, POLL_INTERVAL_MS);
}

function announce(title: string, path: string): void {
  if (document.visibilityState === "visible" || !wantsNotifications()) {
    toast(`The answer in “${title}” is ready.`, "success", { label: "Open chat", href: path });
    return;
  }
  const notification = new Notification("The answer is ready", { body: title, tag: path });
  notification.onclick = () => {
    window.focus();
    location.assign(path);
  };
}
