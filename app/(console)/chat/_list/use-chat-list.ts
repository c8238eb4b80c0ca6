import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef, useState, useSyncExternalStore } from "react";
import type { Chat, FoundChat } from "@/lib/sessions/session.ts";
import { type Runs, useNewestRuns } from "../../_hooks/shared-reads.ts";
import { usePages } from "../../_hooks/use-pages.ts";
import { lazily } from "../../_ui/format.ts";
import type { ChatAddress } from "../_state/attachment.ts";
import {
  onChatEvent,
  publishChatEvent,
  shownChats,
  watchShownChats,
} from "../_state/chat-events.ts";

/** The filter that the list itself sets. */
export interface ListFilter {
  readonly query: string;
  /** Shows the archived chats instead of the others. */
  readonly isArchived: boolean;
}

type ChatFilter = ListFilter & { readonly artistId: string | null };

export type ChatList = ReturnType<typeof useChatList>;

/** How often runs are read while a turn of the list is running: turns that run elsewhere send no event. */
const POLL_MS = 4_000;
const NEW_MS = 10_000;

/** Reads the account's chats page by page, in a search the archived ones, too. */
export function useChatList(wanted: ChatFilter, opened: ChatAddress | null) {
  const client = useQueryClient();
  const { query, artistId, isArchived } = wanted;
  const params = new URLSearchParams({
    ...{ limit: "40", pinned_first: "true" },
    ...(query !== "" && { q: query }),
    ...(artistId !== null && { artist_id: artistId }),
    ...((query === "" || isArchived) && { archived: String(isArchived) }),
  });
  const pages = usePages<FoundChat>(`/api/chats?${params}`, "chats", undefined, true);
  const { items, error, isLoadingMore } = pages;
  const isLoaded = items !== undefined && !pages.isPrevious;
  const [filter, setFilter] = useState(wanted);
  if (isLoaded && JSON.stringify(filter) !== JSON.stringify(wanted)) setFilter(wanted);
  /** The ids of deleted chats and sessions. */
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const isLeft = ({ id, sessionId }: Pick<Chat, "id" | "sessionId">) =>
    !gone.has(id) && !gone.has(sessionId);
  // A chat that moves while the pages are read may be in two of them: rows must differ in their keys.
  const listed = new Set<string>();
  const isFirst = ({ id }: Chat) => !listed.has(id) && listed.add(id);
  const chats = (items ?? []).filter((chat) => hasMessages(chat) && isLeft(chat) && isFirst(chat));
  const isListed = chats.some(({ id }) => id === opened?.chatId);
  const isMissed = isLoaded && !isListed && wanted.query === "" && !isArchived;
  const chat = useOpenChat(opened);
  // A chat that has just been created is listed in a moment.
  const isNew = chat !== null && Date.now() - Date.parse(chat.createdAt) < NEW_MS;
  const current = isMissed && chat && isLeft(chat) && !isNew ? chat : null;

  const refresh = useEffectEvent(() => void client.invalidateQueries({ queryKey: ["/api/chats"] }));
  useEffect(
    () =>
      onChatEvent(({ type, sessionId, chatId }) => {
        if (type !== "deleted") refresh();
        else setGone((known) => new Set([...known, chatId ?? sessionId]));
      }),
    [],
  );

  const shown = current ? [...chats, current] : chats;
  const running = shown.filter(({ activeStreamId }) => activeStreamId !== null);
  const newest = useNewestRuns((data) => {
    // A run may wait for a person for days.
    const isWaiting = ({ id }: Chat) => runOf(data, id)?.status === "requires_action";
    return !running.every(isWaiting) && POLL_MS;
  });
  const readTitle = useRef("");
  // biome-ignore lint/correctness/useExhaustiveDependencies: each response counts once
  useEffect(() => {
    if (running.some(({ id }) => runOf(newest.data, id)?.finishedAt)) refresh();
    // A model has given it a title, which is read once.
    const named = newest.data?.runs.find(({ chatId, title }) =>
      shown.some((one) => one.id === chatId && one.title !== title),
    );
    if (!named || readTitle.current === named.title) return;
    readTitle.current = named.title;
    publishChatEvent({ sessionId: named.sessionId, chatId: named.chatId, type: "changed" });
  }, [newest.readAt]);

  return {
    isLoading: !items && !error,
    /** The filter of the shown chats; the next one takes effect with its first page. */
    filter,
    chats,
    /** The chat of the page when the loaded pages do not have it. */
    current,
    ...{ error, isLoadingMore },
    /** Loads the next page, or a page that failed again; null when there is nothing to load. */
    loadMore: (!isLoadingMore && (error || pages.hasMore) && pages.loadMore) || null,
  };
}

/** Returns the chat of the page once the page has read it. */
function useOpenChat(opened: ChatAddress | null): Chat | null {
  const chatOf = () => shownChats.get(opened?.chatId ?? "")?.getView().chat ?? null;
  return useSyncExternalStore(watchShownChats, chatOf, () => null);
}

/** Returns the newest run of a chat, if it is among the newest of all. */
const runOf = (data: Runs | undefined, id: string) =>
  data?.runs.find(({ chatId }) => chatId === id);

/** Returns the title of a chat, or a placeholder while it has none. */
export const titleOfChat = (chat: Pick<Chat, "title">): string => chat.title || "New chat";

/** Returns false for a chat that holds no more than the files of a draft. */
export const hasMessages = ({ title, activeStreamId, lastAssistantMessageAt }: Chat): boolean =>
  title !== "" || activeStreamId !== null || lastAssistantMessageAt !== null;

/** A row of the list. The height of each is known, and only visible ones are rendered. */
export type ListRow =
  | Readonly<{ key: string; heading: string }>
  /** The snippet is the passage that was found; null when it was the title. */
  | Readonly<{ key: string; chat: FoundChat; snippet: string | null }>;

const HEADING_HEIGHT = 30;
const CHAT_HEIGHT = 32;
const SNIPPET_HEIGHT = 68;

export const heightOf = (row: ListRow): number =>
  "heading" in row ? HEADING_HEIGHT : row.snippet === null ? CHAT_HEIGHT : SNIPPET_HEIGHT;

export function rowsOf({ chats, current, filter }: ChatList, now: Date): ListRow[] {
  const rows: ListRow[] = [];
  const add = (heading: string, chat: FoundChat) => {
    const { id, snippet, title } = chat;
    if (heading !== last) rows.push({ key: `${heading} ${chat.pinned}`, heading });
    last = heading;
    rows.push({ key: id, chat, snippet: snippet === title ? null : (snippet ?? null) });
  };
  let last: string | null = null;
  if (current) add("Open chat", { ...current, pinned: false, archived: false });
  const dateOf = dateLabels(now);
  for (const chat of chats) {
    if (filter.query === "") add(chat.pinned && !chat.archived ? "Pinned" : dateOf(chat), chat);
    else add(chat.archived ? "Archived" : chat.pinned ? "Pinned" : "Chats", chat);
  }
  return rows;
}

const thisYear = lazily(() => new Intl.DateTimeFormat("en", { month: "long" }));
const anyYear = lazily(() => new Intl.DateTimeFormat("en", { month: "long", year: "numeric" }));

/** Returns a function for the heading of a chat: `Today`, `Previous 7 days`, `October`, `October 2025`. */
function dateLabels(now: Date): (chat: FoundChat) => string {
  const daysAgo = (days: number) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() - days).getTime();
  const [today, yesterday, week, month] = [daysAgo(0), daysAgo(1), daysAgo(7), daysAgo(30)];
  return ({ createdAt }) => {
    const at = new Date(createdAt);
    const time = at.getTime();
    if (time >= today) return "Today";
    if (time >= yesterday) return "Yesterday";
    if (time >= week) return "Previous 7 days";
    if (time >= month) return "Previous 30 days";
    return (at.getFullYear() === now.getFullYear() ? thisYear() : anyYear()).format(at);
  };
}
