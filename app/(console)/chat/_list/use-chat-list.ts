import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import type { Chat, FoundChat } from "@/lib/sessions/session.ts";
import type { ApiError } from "../../_api/request.ts";
import { type Runs, useNewestRuns } from "../../_hooks/shared-reads.ts";
import { usePages } from "../../_hooks/use-pages.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { onChatEvent } from "../_state/chat-events.ts";

/** The filter that the list itself sets. */
export interface ListFilter {
  readonly query: string;
  /** Shows what was archived in place of what was not. */
  readonly isArchived: boolean;
}

interface ChatFilter extends ListFilter {
  readonly artistId: string | null;
}

interface Section {
  readonly isPinned: boolean;
  readonly isArchived: boolean;
  readonly chats: readonly FoundChat[];
}

export interface ChatList {
  readonly phase: "loading" | "ready" | "failed";
  /** The filter of the shown chats; the next one takes effect with its first page. */
  readonly filter: ChatFilter;
  readonly sections: readonly Section[];
  /** The chat of the page when the loaded pages do not have it. */
  readonly current: Chat | null;
  readonly error: ApiError | null;
  readonly isLoadingMore: boolean;
  /** Loads the next page, or a page that failed again; null when there is nothing to load. */
  readonly loadMore: (() => void) | null;
}

/** How often runs are read while a turn of the list is running: turns that run elsewhere send no event. */
const POLL_MS = 4_000;

/** Reads the account's chats, page by page: first the pinned ones, in a search the archived ones last. */
export function useChatList(
  wanted: ChatFilter,
  opened: { readonly sessionId: string; readonly chatId: string } | null,
): ChatList {
  const client = useQueryClient();
  const { isArchived } = wanted;
  const all = [
    useSection(wanted, { isPinned: true, isArchived: false }, !isArchived),
    useSection(wanted, { isPinned: false, isArchived: false }, !isArchived),
    useSection(wanted, { isPinned: false, isArchived: true }, isArchived || wanted.query !== ""),
  ];
  const parts = all.filter(({ isWanted }) => isWanted);
  const isReady = parts.every(({ pages }) => pages.items !== undefined);
  const isLoaded = isReady && !parts.some(({ pages }) => pages.isPrevious);
  const [filter, setFilter] = useState(wanted);
  if (isLoaded && JSON.stringify(filter) !== JSON.stringify(wanted)) setFilter(wanted);
  const error = parts.find(({ pages }) => pages.error)?.pages.error ?? null;
  /** The ids of deleted chats and sessions. */
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const isLeft = ({ id, sessionId }: Pick<Chat, "id" | "sessionId">) =>
    !gone.has(id) && !gone.has(sessionId);
  // A chat that moves is in two sections until both are read again: rows must differ in their keys.
  const listed = new Set<string>();
  const isFirst = ({ id }: Chat) => !listed.has(id) && listed.add(id);
  const sections = isReady
    ? parts.map(({ section }) => ({
        ...section,
        chats: section.chats.filter((chat) => isLeft(chat) && isFirst(chat)),
      }))
    : [];

  const chats = sections.flatMap((section) => section.chats);
  const isListed = chats.some(({ id }) => id === opened?.chatId);
  const isMissed =
    opened !== null && isLeft({ ...opened, id: opened.chatId }) && isLoaded && !isListed;
  const path =
    isMissed && wanted.query === "" && !isArchived
      ? `/api/sessions/${opened.sessionId}/chats?limit=100`
      : null;
  const { data } = useQuery<{ chats: Chat[] }>(path);
  const current = data?.chats.find(({ id }) => id === opened?.chatId) ?? null;

  const refresh = useCallback(
    (sessionId: string) => {
      for (const key of ["/api/chats", `/api/sessions/${sessionId}/chats`]) {
        void client.invalidateQueries({ queryKey: [key] });
      }
    },
    [client],
  );
  useEffect(
    () =>
      onChatEvent(({ type, sessionId, chatId }) => {
        if (type !== "deleted") refresh(sessionId);
        else setGone((known) => new Set([...known, chatId ?? sessionId]));
      }),
    [refresh],
  );

  const shown = current ? [...chats, current] : chats;
  const running = shown.filter(({ activeStreamId }) => activeStreamId !== null);
  const newest = useNewestRuns((data) => {
    // A run may wait for a person for days.
    const isWaiting = ({ id }: Chat) => runOf(data, id)?.status === "requires_action";
    return !running.every(isWaiting) && POLL_MS;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: each response counts once
  useEffect(() => {
    const ended = running.find(({ id }) => runOf(newest.data, id)?.finishedAt);
    if (ended) refresh(ended.sessionId);
  }, [newest.readAt]);

  const isLoadingMore = parts.some(({ pages }) => pages.isLoadingMore);
  const next = parts.find(({ pages }) => pages.error || pages.hasMore);
  return {
    phase: isReady ? "ready" : error ? "failed" : "loading",
    ...{ filter, sections, current, error },
    isLoadingMore,
    loadMore: (!isLoadingMore && next?.pages.loadMore) || null,
  };
}

/** Returns the newest run of a chat, if it is among the newest of all. */
const runOf = (data: Runs | undefined, id: string) =>
  data?.runs.find(({ chatId }) => chatId === id);

function useSection(
  { query, artistId }: ChatFilter,
  { isPinned, isArchived }: Omit<Section, "chats">,
  isWanted: boolean,
) {
  const params = new URLSearchParams({
    limit: "40",
    ...(query !== "" && { q: query }),
    ...(artistId !== null && { artist_id: artistId }),
    archived: String(isArchived),
    ...(!isArchived && { pinned: String(isPinned) }),
  });
  const path = isWanted ? `/api/chats?${params}` : null;
  const pages = usePages<FoundChat>(path, "chats", undefined, true);
  const chats = pages.items?.filter(hasMessages) ?? [];
  return { isWanted, pages, section: { isPinned, isArchived, chats } };
}

/** Returns the title of a chat, or a placeholder while it has none. */
export const titleOfChat = (chat: Pick<Chat, "title">): string => chat.title || "New chat";

/** Returns false for a chat that holds no more than the files of a draft. */
export const hasMessages = ({ title, activeStreamId, lastAssistantMessageAt }: Chat): boolean =>
  title !== "" || activeStreamId !== null || lastAssistantMessageAt !== null;
