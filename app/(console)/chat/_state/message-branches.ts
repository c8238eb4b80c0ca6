/**
 * The other branches of a chat and the ratings of its answers, which the service keeps beside the messages that it
 * shows, and the actions of a person on them.
 */
import type { Branch, Feedback } from "@/lib/sessions/session.ts";
import { toApiError } from "@/packages/client/src/api-error.ts";
import { type ChatError, toChatError, unreachableChat } from "./chat-error.ts";
import type { Outbox, SentMessage } from "./drafts.ts";
import type { LiveChat } from "./live-chat.ts";
import { fromParts, type StoredChat } from "./message-parts.ts";
import type { TurnReader } from "./turn-reader.ts";

export interface Marks {
  /** The ids of all messages at the place of a message, oldest first. None for one that is alone there. */
  readonly siblings: ReadonlyMap<string, readonly string[]>;
  /** Ratings by the id of the answer. */
  readonly ratings: ReadonlyMap<string, Feedback>;
}

export const noMarks: Marks = { siblings: new Map(), ratings: new Map() };

interface Shown extends Marks {
  readonly error: ChatError | null;
  readonly sentMessageId: string | null;
}

interface MessageBranchesOptions {
  readonly sessionId: string;
  readonly chatId: string;
  readonly chat: LiveChat;
  readonly outbox: Outbox;
  readonly onBranch: () => void;
  readonly fetch: (path: string, init: RequestInit) => Promise<Response | null>;
  readonly isReading: () => boolean;
  /** Sends a message with more in the body of the request, and reads its turn to the end. */
  readonly send: (message: SentMessage, body: object) => Promise<void>;
  readonly read: (turn: (reader: TurnReader) => Promise<void>) => Promise<void>;
  readonly refresh: () => Promise<void>;
  readonly show: (change: Partial<Shown>) => void;
}

export class MessageBranches {
  readonly #options: MessageBranchesOptions;
  #marks = noMarks;
  /** Counts changes, because a list that was requested before one is outdated. */
  #version = 0;
  /** The last rating that is being stored: they are sent one after the other. */
  #rating: Promise<unknown> = Promise.resolve();

  constructor(options: MessageBranchesOptions) {
    this.#options = options;
  }

  /** Returns a function that shows the branches and ratings of a chat being read, unless they change before. */
  receive(): (stored: StoredChat) => void {
    const version = ++this.#version;
    return ({ branches = [], feedback = [] }) => {
      if (version !== this.#version) return;
      const ratings = new Map(feedback.map((rated) => [rated.message_id, rated]));
      this.#set({ siblings: toSiblings(branches), ratings });
    };
  }

  /** Sends another text in place of a message, with its files. The chat continues from there. */
  async edit(messageId: string, text: string): Promise<void> {
    const { chat, isReading, outbox, send, show } = this.#options;
    const { messages } = chat;
    const place = messages.findIndex((message) => message.id === messageId);
    if (isReading() || place < 0) return;
    const id = crypto.randomUUID();
    const { files } = fromParts(messages[place]?.parts ?? []);
    chat.messages = messages.slice(0, place);
    const siblings = [...(this.#marks.siblings.get(messageId) ?? [messageId]), id];
    this.#set({ siblings: new Map([...this.#marks.siblings, [id, siblings]]) });
    show({ error: null });
    outbox.keep({ id, text, files });
    await send({ id, text, files }, { parentId: messages[place - 1]?.id ?? "" });
  }

  /** Regenerates the answer to a message of the user: the one with this id, or the one it answers. */
  async regenerate(messageId: string): Promise<void> {
    const { chat, isReading, show } = this.#options;
    const { messages } = chat;
    const end = messages.findIndex((message) => message.id === messageId) + 1;
    const place = messages.slice(0, end).findLastIndex(({ role }) => role === "user");
    if (isReading() || place < 0) return;
    chat.messages = messages.slice(0, place + 1);
    show({ error: null, sentMessageId: messages[place]?.id ?? null });
    const body = { parentId: messages[place - 1]?.id ?? "" };
    await this.#options.read((reader) => reader.sendMessage(undefined, { body }));
    await this.#options.refresh();
  }

  async choose(messageId: string): Promise<void> {
    const { isReading, onBranch, refresh, show } = this.#options;
    if (isReading()) return;
    const shown = await this.#put<{ branches: Branch[] }>("branch", { message_id: messageId });
    const error = "text" in shown ? shown : null;
    if (!("text" in shown)) this.#set({ siblings: toSiblings(shown.branches) });
    show({ error });
    if (error === null) onBranch();
    await refresh();
  }

  /**
   * Rates an answer; null takes the rating back. It is shown at once, and undone if it cannot be stored, which
   * resolves to false.
   */
  async rate(messageId: string, rating: Feedback["rating"] | null, comment: string) {
    const before = this.#marks.ratings.get(messageId);
    const updated_at = new Date().toISOString();
    const show = (rated: Feedback | null | undefined) => {
      const ratings = new Map(this.#marks.ratings);
      if (rated) ratings.set(messageId, rated);
      else ratings.delete(messageId);
      this.#set({ ratings });
    };
    show(rating && { message_id: messageId, rating, comment: comment || null, updated_at });
    const path = `messages/${encodeURIComponent(messageId)}/feedback`;
    // A comment that overtook the thumb before it would be removed by it.
    const storing = this.#rating.then(() =>
      this.#put<{ feedback: Feedback | null }>(path, { rating, comment }),
    );
    this.#rating = storing;
    const stored = await storing;
    if (!("text" in stored)) return true;
    show(before);
    this.#options.show({ error: stored });
    return false;
  }

  #set(marks: Partial<Marks>): void {
    this.#version++;
    this.#marks = { ...this.#marks, ...marks };
    this.#options.show(marks);
  }

  async #put<T extends object>(what: string, body: unknown): Promise<T | ChatError> {
    const { sessionId, chatId, fetch } = this.#options;
    const path = `/api/sessions/${sessionId}/chats/${chatId}/${what}`;
    const response = await fetch(path, { method: "PUT", body: JSON.stringify(body) });
    if (!response) return unreachableChat;
    return response.ok ? await response.json() : toChatError(await toApiError(response));
  }
}

const toSiblings = (branches: readonly Branch[]): Marks["siblings"] =>
  new Map(branches.map(({ message_id, sibling_ids }) => [message_id, sibling_ids]));
