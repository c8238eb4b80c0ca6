/**
 * The account's chats for the sidebar: searched and filtered by the server, loaded page by page, and kept
 * up to date by the events of this tab and of others. This file does not depend on React.
 */
import type { z } from "zod";
import type { Chat, FoundChat } from "@/lib/sessions/session.ts";
import type { listRunsContract } from "@/lib/turns/run-contract.ts";
import { type ApiError, api } from "../../_api/request.ts";
import { type ChatEvent, onChatEvent } from "../_state/chat-events.ts";
import {
  afterFirstPage,
  type ChatFilter,
  type Section,
  type SectionKind,
  sectionsFor,
  withChat,
} from "./sections.ts";

type RunPage = z.output<(typeof listRunsContract)["responses"][200]["schema"]>;

export interface ChatFeedView {
  readonly phase: "loading" | "ready" | "failed";
  /** What the shown chats were asked for; the next filter takes effect with its first page. */
  readonly filter: ChatFilter;
  readonly sections: readonly Section[];
  /** The chat of the page when the loaded pages do not have it. */
  readonly current: Chat | null;
  readonly error: ApiError | null;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
}

const PAGE_SIZE = 40;
/** Turns that run elsewhere, such as headless runs, send no event to this browser. */
const POLL_INTERVAL_MS = 4_000;

export class ChatFeed {
  #view: ChatFeedView;
  #filter: ChatFilter;
  #opened: { readonly sessionId: string; readonly chatId: string } | null = null;
  /** Counts the loads of first pages, so that a late answer does not replace a newer one. */
  #loads = 0;
  readonly #listeners = new Set<() => void>();

  constructor(filter: ChatFilter) {
    this.#filter = filter;
    this.#view = {
      phase: "loading",
      filter,
      sections: [],
      current: null,
      error: null,
      hasMore: false,
      isLoadingMore: false,
    };
  }

  getView = (): ChatFeedView => this.#view;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** Loads the chats and keeps them up to date until the returned function is called. */
  start(): () => void {
    void this.load();
    const stopListening = onChatEvent((event) => this.#onEvent(event));
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

  setFilter(filter: ChatFilter): void {
    if (JSON.stringify(filter) === JSON.stringify(this.#filter)) return;
    this.#filter = filter;
    void this.load();
  }

  /** Names the chat of the page, which is shown even if the loaded pages do not have it. */
  setOpened(opened: { readonly sessionId: string; readonly chatId: string } | null): void {
    this.#opened = opened;
    if (this.#view.phase === "ready") void this.#showCurrent();
  }

  /** Loads the first pages, and keeps the later pages that are loaded. */
  async load(): Promise<void> {
    const load = ++this.#loads;
    const filter = this.#filter;
    const kinds = sectionsFor(filter);
    const pages = await Promise.all(kinds.map((kind) => readPage(kind, null)));
    if (load !== this.#loads) return;
    const failed = pages.find((page) => !page.ok);
    if (failed && !failed.ok) {
      const isShown = this.#view.phase === "ready" && this.#view.filter === filter;
      this.#show(isShown ? {} : { phase: "failed", error: failed.error });
      return;
    }
    const known = this.#view.filter === filter ? this.#view.sections : [];
    const sections = pages.flatMap((page, index) => {
      const kind = kinds[index];
      if (!kind || !page.ok) return [];
      const { chats, next_cursor: cursor } = page.data;
      return [afterFirstPage({ ...kind, chats, cursor }, known[index])];
    });
    this.#show({ phase: "ready", filter, error: null, sections });
    await this.#showCurrent();
  }

  /** Loads the next page of the first section that has more. */
  async loadMore(): Promise<void> {
    const at = this.#view.sections.findIndex(({ cursor }) => cursor !== null);
    const section = this.#view.sections[at];
    if (!section || this.#view.isLoadingMore) return;
    this.#show({ isLoadingMore: true, error: null });
    const page = await readPage(section, section.cursor);
    const now = this.#view.sections[at];
    if (!page.ok) {
      this.#show({ isLoadingMore: false, error: page.error });
    } else if (now?.cursor !== section.cursor) {
      // The list was loaded again meanwhile.
      this.#show({ isLoadingMore: false });
      await this.loadMore();
    } else {
      const ids = new Set(now.chats.map(({ id }) => id));
      const chats = [...now.chats, ...page.data.chats.filter(({ id }) => !ids.has(id))];
      const grown = { ...now, chats, cursor: page.data.next_cursor };
      this.#show({ isLoadingMore: false, sections: this.#view.sections.with(at, grown) });
      await this.#showCurrent();
    }
  }

  #onEvent(event: ChatEvent): void {
    const { sessionId, chatId, type } = event;
    if (type === "deleted") {
      this.#remove((chat) => (chatId === null ? chat.sessionId === sessionId : chat.id === chatId));
    } else if (type === "moved") {
      const chat = this.#find(event.chatId);
      if (!chat) void this.load();
      else {
        const sections = this.#view.sections.map((section) => withChat(section, chat, event));
        this.#show({ sections });
        void this.#showCurrent();
      }
    } else void this.#refresh(sessionId);
  }

  /** Reads the chats of a session again after one was created or changed, or its turn began or ended. */
  async #refresh(sessionId: string): Promise<void> {
    const chats = await readSession(sessionId);
    if (!chats) return;
    const byId = new Map(chats.map((chat) => [chat.id, chat]));
    const others = this.#view.sections.find(({ isPinned }) => !isPinned);
    // What is older is on a page that is not loaded.
    const oldest = (others?.cursor && others.chats.at(-1)?.createdAt) || "";
    const isNew = chats.some(
      (chat) => hasMessages(chat) && !this.#isListed(chat.id) && chat.createdAt > oldest,
    );
    const { sections, current } = this.#view;
    this.#show({
      sections: sections.map((section) => ({
        ...section,
        chats: section.chats.map((chat) => ({ ...chat, ...byId.get(chat.id) })),
      })),
      current: current && (byId.get(current.id) ?? current),
    });
    if (isNew) await this.load();
  }

  /** Finds out which turns have ended, with one request for all chats and only while one is being answered. */
  async #pollRunning(): Promise<void> {
    const { sections, current } = this.#view;
    const shown = [...sections.flatMap(({ chats }) => chats), ...(current ? [current] : [])];
    const turns = new Map(shown.map(({ id, activeStreamId }) => [id, activeStreamId]));
    if ([...turns.values()].every((turn) => turn === null)) return;
    const read = await api<RunPage>("/api/chat/runs?limit=100");
    if (!read.ok) return;
    const { runs } = read.data;
    const withTurn = <T extends Chat>(chat: T): T => {
      // A turn that started during the request may not be in its answer.
      const isSame = turns.get(chat.id) === chat.activeStreamId;
      const hasEnded = runs.find(({ chatId }) => chatId === chat.id)?.finishedAt != null;
      return isSame && hasEnded ? { ...chat, activeStreamId: null } : chat;
    };
    this.#show({
      sections: this.#view.sections.map((one) => ({ ...one, chats: one.chats.map(withTurn) })),
      current: this.#view.current && withTurn(this.#view.current),
    });
  }

  /** Shows the chat of the page above the others, unless these have it or are searched. */
  async #showCurrent(): Promise<void> {
    const opened = this.#opened;
    const { filter } = this.#view;
    const isListed = opened !== null && this.#isListed(opened.chatId);
    if (!opened || isListed || filter.query !== "" || filter.isArchived) {
      this.#show({ current: null });
      return;
    }
    if (this.#view.current?.id === opened.chatId) return;
    const chats = await readSession(opened.sessionId);
    if (this.#opened !== opened || this.#isListed(opened.chatId)) return;
    this.#show({ current: chats?.find(({ id }) => id === opened.chatId) ?? null });
  }

  #isListed(chatId: string): boolean {
    return this.#view.sections.some(({ chats }) => chats.some(({ id }) => id === chatId));
  }

  #find(chatId: string | null): FoundChat | null {
    const { sections, current } = this.#view;
    const listed = sections.flatMap(({ chats }) => chats).find(({ id }) => id === chatId);
    return listed ?? (current?.id === chatId ? current : null);
  }

  #remove(isGone: (chat: Chat) => boolean): void {
    const { sections, current } = this.#view;
    this.#show({
      sections: sections.map((section) => ({
        ...section,
        chats: section.chats.filter((chat) => !isGone(chat)),
      })),
      current: current && isGone(current) ? null : current,
    });
  }

  #show(change: Partial<ChatFeedView>): void {
    const next = { ...this.#view, ...change };
    this.#view = { ...next, hasMore: next.sections.some(({ cursor }) => cursor !== null) };
    for (const listener of this.#listeners) listener();
  }
}

async function readPage({ params }: SectionKind, cursor: string | null) {
  const query = new URLSearchParams({
    limit: String(PAGE_SIZE),
    ...params,
    ...(cursor === null ? {} : { cursor }),
  });
  const page = await api<{ chats: FoundChat[]; next_cursor: string | null }>(`/api/chats?${query}`);
  if (!page.ok) return page;
  return { ...page, data: { ...page.data, chats: page.data.chats.filter(hasMessages) } };
}

async function readSession(sessionId: string): Promise<readonly Chat[] | null> {
  const result = await api<{ chats: Chat[] }>(`/api/sessions/${sessionId}/chats?limit=100`);
  return result.ok ? result.data.chats : null;
}

/** Returns the title of a chat, or a placeholder while it has none. */
export const titleOfChat = (chat: Pick<Chat, "title">): string => chat.title || "New chat";

/** Returns false for a chat that holds no more than the files of a draft. */
export const hasMessages = ({ title, activeStreamId, lastAssistantMessageAt }: Chat): boolean =>
  title !== "" || activeStreamId !== null || lastAssistantMessageAt !== null;
