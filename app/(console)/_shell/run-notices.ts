import { useEffect, useRef } from "react";
import { useNewestRuns } from "../_hooks/shared-reads.ts";
import { toast } from "../_ui/toast.tsx";
import { onChatEvent, shownChats } from "../chat/_state/chat-events.ts";
import { wantsNotifications } from "./notification-choice.ts";

const POLL_INTERVAL_MS = 15_000;

/** Announces a complete answer whose chat is not on the screen: this tab reports its own turns, other runs are polled. */
export function useRunNotices(): void {
  const { data, readAt, reload } = useNewestRuns(POLL_INTERVAL_MS);
  const unfinishedRuns = useRef(new Set<string>());
  const endedChats = useRef(new Set<string>());

  useEffect(
    () =>
      onChatEvent(({ chatId, type }, isOwn) => {
        if (type === "ended" && chatId !== null && isOwn) endedChats.current.add(chatId);
        // The number of waiting approvals may have changed.
        reload();
      }),
    [reload],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: a turn may have ended since the same response
  useEffect(() => {
    const known = new Set<string>();
    for (const { runId, sessionId, chatId, title, finishedAt } of data?.runs ?? []) {
      const isNewest = !known.has(chatId);
      known.add(chatId);
      if (finishedAt === null) {
        unfinishedRuns.current.add(runId);
        continue;
      }
      const wasRunning = unfinishedRuns.current.delete(runId);
      const hasJustEnded = isNewest && endedChats.current.delete(chatId);
      const isShown = shownChats.has(chatId) && document.visibilityState === "visible";
      if ((wasRunning || hasJustEnded) && !isShown) {
        announce(title || "New chat", `/chat/${sessionId}/${chatId}`);
      }
    }
  }, [readAt]);
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
