/**
 * The caller's sessions and their chats, for the sidebar. They are loaded page by page and kept up to
 * date by the events of this tab and of others. This file does not depend on React.
 */
import type { Chat, Session } from "@/lib/sessions/session.ts";
import { type ApiError, api } from "../../_api/request.ts";
import { onChatEvent } from "../_state/chat-events.ts";

export interface SessionEntry {
  readonly session: Session;
  /** Newest first; null until they are loaded. */
  readonly chats: readonly Chat[] | null;
}

export interface ChatListView {
  readonly phase: "loading" | "ready" | "failed";
  /** Newest first. */
  readonly entries: readonly SessionEntry[];
  readonly error: ApiError | null;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
}

/** A browser allows six connections to an origin, and streams need some of them. */
const MAX_CONCURRENT_REQUESTS = 3;
/** Turns that run elsewhere, such as headless runs, send no event to this browser. */
const POLL_INTERVAL_MS = 4_000;

export class ChatList {
  #view: ChatListView = {
    phase: "loading",
    entries: [],
    error: null,
    hasMore: false,
    isLoadingMore: false,
  };
  #cursor: string | null = null;
  readonly #listeners = new Set<() => void>();

  getView = (): ChatListView => this.#view;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** Loads the list and keeps it up to date until the returned function is called. */
  start(): () => void {
    void this.load();
    const stopListening = onChatEvent(({ sessionId, chatId, type }) => {
      if (type === "deleted" && chatId === null) {
        this.#set(without(this.#view.entries, sessionId));
      } else void this.refreshSession(sessionId);
    });
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void this.#pollRunning();
    }, POLL_INTERVAL_MS);
    const whenVisible = () => {
      if (document.visibilityState === "visible") void this.load();
    };
    document.addEventListener("visibilitychange", whenVisible);
    window.addEventListener("online", whenVisible);
    return () => {
      stopListening();
      clearInterval(timer);
      document.removeEventListener("visibilitychange", whenVisible);
      window.removeEventListener("online", whenVisible);
    };
  }

  /** Loads the first page again and keeps the later pages that are loaded. */
  async load(): Promise<void> {
    const result = await readPage(null);
    if (!result.ok) {
      const isShown = this.#view.phase === "ready";
      this.#show(isShown ? {} : { phase: "failed", error: result.error });
      return;
    }
    const { sessions, next_cursor } = result.data;
    const known = this.#view.entries;
    const ids = new Set(sessions.map(({ id }) => id));
    const oldest = sessions.at(-1)?.createdAt ?? "";
    // A session that is missing from the first page was deleted elsewhere.
    const later = known.filter(
      ({ session }) => !ids.has(session.id) && session.createdAt < oldest && next_cursor !== null,
    );
    if (later.length === 0) this.#cursor = next_cursor;
    const first = sessions.map((session) => ({ session, chats: this.#chatsOf(session.id) }));
    this.#show({
      phase: "ready",
      error: null,
      entries: [...first, ...later],
      hasMore: this.#cursor !== null,
    });
    await this.#readChats(sessions);
  }

  async loadMore(): Promise<void> {
    if (this.#cursor === null || this.#view.isLoadingMore) return;
    this.#show({ isLoadingMore: true });
    const result = await readPage(this.#cursor);
    if (!result.ok) {
      this.#show({ isLoadingMore: false, error: result.error });
      return;
    }
    const { sessions, next_cursor } = result.data;
    this.#cursor = next_cursor;
    const known = new Set(this.#view.entries.map(({ session }) => session.id));
    const more = sessions.filter(({ id }) => !known.has(id));
    this.#show({
      isLoadingMore: false,
      error: null,
      hasMore: next_cursor !== null,
      entries: [...this.#view.entries, ...more.map((session) => ({ session, chats: null }))],
    });
    await this.#readChats(more);
  }

  /** Loads one session again after it was created, changed or deleted. */
  async refreshSession(sessionId: string): Promise<void> {
    const [session, chats] = await Promise.all([
      api<{ session: Session }>(`/api/sessions/${sessionId}`),
      readChats(sessionId),
    ]);
    if (!session.ok) {
      if (session.error.status === 404) this.#set(without(this.#view.entries, sessionId));
      return;
    }
    const entry = { session: session.data.session, chats: chats ?? this.#chatsOf(sessionId) };
    const isKnown = this.#view.entries.some((one) => one.session.id === sessionId);
    this.#set(
      isKnown
        ? this.#view.entries.map((one) => (one.session.id === sessionId ? entry : one))
        : [entry, ...this.#view.entries],
    );
  }

  async #pollRunning(): Promise<void> {
    const running = this.#view.entries.filter(({ chats }) =>
      chats?.some((chat) => chat.activeStreamId !== null),
    );
    await this.#readChats(running.map(({ session }) => session));
  }

  async #readChats(sessions: readonly Session[]): Promise<void> {
    const waiting = [...sessions];
    const work = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const { id } = next;
        const chats = await readChats(id);
        if (!chats) continue;
        this.#set(
          this.#view.entries.map((one) => (one.session.id === id ? { ...one, chats } : one)),
        );
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_REQUESTS }, work));
  }

  #chatsOf(sessionId: string): readonly Chat[] | null {
    return this.#view.entries.find(({ session }) => session.id === sessionId)?.chats ?? null;
  }

  #set(entries: readonly SessionEntry[]): void {
    this.#show({ entries });
  }

  #show(change: Partial<ChatListView>): void {
    this.#view = { ...this.#view, ...change };
    for (const listener of this.#listeners) listener();
  }
}

const without = (entries: readonly SessionEntry[], id: string) =>
  entries.filter(({ session }) => session.id !== id);

function readPage(cursor: string | null) {
  const query = new URLSearchParams({ limit: "20", ...(cursor === null ? {} : { cursor }) });
  return api<{ sessions: Session[]; next_cursor: string | null }>(`/api/sessions?${query}`);
}

async function readChats(sessionId: string): Promise<readonly Chat[] | null> {
  const result = await api<{ chats: Chat[] }>(`/api/sessions/${sessionId}/chats?limit=100`);
  return result.ok ? result.data.chats : null;
}

/** Returns the title of a chat, or a placeholder while it has none. */
export const titleOfChat = (chat: Chat): string => chat.title || "New chat";

/** Returns the entries whose title, or the title of one of whose chats, contains the query. */
export function searchEntries(
  entries: readonly SessionEntry[],
  query: string,
): readonly SessionEntry[] {
  const wanted = query.trim().toLocaleLowerCase();
  if (wanted === "") return entries;
  const matches = (title: string) => title.toLocaleLowerCase().includes(wanted);
  return entries.flatMap((entry) => {
    if (matches(entry.session.title)) return [entry];
    const chats = entry.chats?.filter((chat) => matches(titleOfChat(chat))) ?? [];
    return chats.length === 0 ? [] : [{ ...entry, chats }];
  });
}
