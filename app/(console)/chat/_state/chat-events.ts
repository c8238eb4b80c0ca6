import type { Chat } from "@/lib/sessions/session.ts";
import type { Viewed } from "../../_hooks/use-view.ts";

/** A change to a chat, published to all tabs of this browser. */
export interface ChatEvent {
  readonly sessionId: string;
  /** Null for a session as a whole. */
  readonly chatId: string | null;
  /**
   * `changed`: the chat was created or renamed. `moved`: it was pinned or archived, or is no longer.
   * `started`, `ended`: one of its turns was. `branch`: it shows another branch.
   */
  readonly type: "started" | "ended" | "changed" | "moved" | "branch" | "deleted";
}

type Listener = (event: ChatEvent, isOwn: boolean) => void;

const CHANNEL_NAME = "agent-platform-chats";
const listeners = new Set<Listener>();
let channel: BroadcastChannel | undefined;

export function publishChatEvent(event: ChatEvent): void {
  open().postMessage(event);
  for (const listener of listeners) listener(event, true);
}

/** Calls `listener` for each event until the returned function is called. */
export function onChatEvent(listener: Listener): () => void {
  open();
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function open(): BroadcastChannel {
  if (channel) return channel;
  channel = new BroadcastChannel(CHANNEL_NAME);
  // Only this application, on this origin, posts to the channel.
  channel.onmessage = ({ data }: MessageEvent<ChatEvent>) => {
    for (const listener of listeners) listener(data, false);
  };
  return channel;
}

type ShownChat = Viewed<{ readonly chat: Chat | null }>;

/** The chats that this tab shows, by their ids. Their answers need no notice. */
export const shownChats = new Map<string, ShownChat>();
const watchers = new Set<() => void>();

function notify(): void {
  for (const watcher of watchers) watcher();
}

/** Calls `watcher` at each change of the shown chats until the returned function is called. */
export function watchShownChats(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

/** Counts a chat among the shown ones until the returned function is called. */
export function showChat(chatId: string, chat: ShownChat): () => void {
  const stop = chat.subscribe(notify);
  shownChats.set(chatId, chat);
  notify();
  return () => {
    stop();
    shownChats.delete(chatId);
    notify();
  };
}
