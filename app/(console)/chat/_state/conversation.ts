/**
 * One chat as a page holds it: what is stored, the turn that runs, and what a person does to them.
 * No React in here; `useConversation` shows it.
 *
 * Whenever no turn is being read, the stored messages are the truth and are taken as they are. While
 * one is, its stream is: what it adds up to is exactly what will be stored.
 */
import { Chat } from "@ai-sdk/react";
import type { UIMessage } from "ai";
import type { z } from "zod";
import type { Chat as ChatRow, chatWithMessages } from "@/lib/sessions/session.ts";
import {
  type Connection,
  createDurableChatTransport,
  type DurableChatTransportOptions,
} from "./durable-chat-transport.ts";
import { ChatRefused, toRefusal } from "./refused.ts";

export interface ConversationView {
  /** `missing`: no such chat, or not the caller's. `failed`: it could not be read; see `fault`. */
  readonly phase: "loading" | "ready" | "missing" | "failed";
  readonly chat: ChatRow | null;
  readonly connection: Connection;
  /** A turn is being started or read. */
  readonly isReading: boolean;
  readonly isStopping: boolean;
  /** What went wrong last, in words for the person. */
  readonly fault: Fault | null;
  /** The text of a message that was not accepted, for the person to send again. */
  readonly returned: string | null;
}

interface Fault {
  readonly text: string;
  readonly requestId: string | null;
}

export interface ConversationOptions
  extends Pick<DurableChatTransportOptions, "sessionId" | "fetch" | "untilRetry"> {
  readonly chatId: string;
  /** A turn of this chat began or ended here; other tabs want to know. */
  readonly onTurn: (event: "started" | "ended") => void;
}

type Stored = z.output<typeof chatWithMessages>;

export class Conversation {
  readonly chat: Chat<UIMessage>;
  readonly #options: ConversationOptions;
  readonly #listeners = new Set<() => void>();
  readonly #closed = new AbortController();
  #view: ConversationView = {
    phase: "loading",
    chat: null,
    connection: "live",
    isReading: false,
    isStopping: false,
    fault: null,
    returned: null,
  };
  #isOutdated = false;
  #isRefreshing = false;

  constructor(options: ConversationOptions) {
    this.#options = options;
    const transport = createDurableChatTransport({
      ...options,
      fetch: async (path, init) => {
        const response = await options.fetch(path, init);
        if (path === "/api/chat" && response.ok) this.#onStarted();
        return response;
      },
      onOutrun: () => this.#takeStored().then(() => {}),
      onConnection: (connection) => this.#show({ connection }),
    });
    this.chat = new Chat({
      id: options.chatId,
      transport,
      generateId: () => crypto.randomUUID(),
    });
  }

  getView = (): ConversationView => this.#view;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /**
   * Takes what is stored, and joins the turn that runs. Does nothing while a turn is being read; while
   * it is at work already, it does it once more.
   */
  async refresh(): Promise<void> {
    this.#isOutdated = true;
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    for (let attempt = 0; this.#isOutdated && !this.#closed.signal.aborted; attempt++) {
      this.#isOutdated = false;
      if (this.isReading) break;
      const stored = await this.#takeStored();
      if (!stored?.isStreaming || this.isReading) continue;
      // A turn that cannot be read is not asked for again and again at once.
      if (attempt > 0) await this.#untilRetry(attempt);
      await this.#read(() => this.#join());
      this.#isOutdated = true;
    }
    this.#isRefreshing = false;
  }

  /**
   * Sends a message and reads its turn to the end. A message that the service refuses is not part of
   * the chat: its text is in `returned` then.
   */
  async send(text: string): Promise<void> {
    this.#show({ fault: null });
    if (this.isReading) {
      this.#show({ returned: text });
      return;
    }
    const id = crypto.randomUUID();
    const parts: UIMessage["parts"] = [{ type: "text", text }];
    await this.#read(() => this.chat.sendMessage({ id, role: "user", parts }));
    if (this.chat.error instanceof ChatRefused) {
      this.chat.messages = this.chat.messages.filter((message) => message.id !== id);
      this.#show({ returned: text });
    }
    await this.refresh();
  }

  /** Answers one question; the turn goes on when it was the last open one. */
  async answer(toolCallId: string, output: unknown): Promise<void> {
    if (this.isReading) return;
    this.#show({ fault: null });
    await this.chat.addToolOutput({ tool: "ask_user_question", toolCallId, output });
    if (this.chat.lastMessage?.parts.some(isOpenQuestion)) return;
    await this.#read(() => this.chat.sendMessage());
    await this.refresh();
  }

  /** Stops the running turn. A turn that is only being started is stopped once it has started. */
  async stop(): Promise<void> {
    if (this.#view.isStopping) return;
    this.#show({ isStopping: true });
    const path = `/api/chat/${this.#options.chatId}/stop`;
    for (let attempt = 0; this.isReading && !this.#closed.signal.aborted; attempt++) {
      const response = await this.#fetch(path, { method: "POST" });
      if (response && !response.ok && response.status < 500) {
        const { message, requestId } = await toRefusal(response);
        this.#show({ fault: { text: message, requestId } });
        break;
      }
      const answer: unknown = response?.ok ? await response.json() : null;
      if (typeof answer === "object" && answer && "stopped" in answer && answer.stopped) break;
      await this.#untilRetry(attempt);
    }
    this.#show({ isStopping: false });
  }

  /** Shows a chat that was just made, or changed by other means, such as a new title. */
  showChat(chat: ChatRow): void {
    this.#show({ phase: "ready", chat });
  }

  /** The chat was deleted here or in another tab. */
  showMissing(): void {
    this.#show({ phase: "missing" });
  }

  get isReading(): boolean {
    return this.#view.isReading;
  }

  /** The model of the turns from now on. */
  async chooseModel(modelId: string): Promise<void> {
    const { sessionId, chatId } = this.#options;
    const response = await this.#fetch(`/api/sessions/${sessionId}/chats/${chatId}`, {
      method: "PATCH",
      body: JSON.stringify({ modelId }),
    });
    if (!response) this.#show({ fault: unreachable });
    else if (!response.ok) this.#show({ fault: faultOf(await toRefusal(response)) });
    else this.#show({ chat: ((await response.json()) as { chat: ChatRow }).chat });
  }

  takeReturned(): void {
    this.#show({ returned: null });
  }

  dismissFault(): void {
    this.#show({ fault: null });
  }

  /** Stops reading; the turn goes on. */
  close(): void {
    this.#closed.abort();
    this.#listeners.clear();
    void this.chat.stop();
  }

  /** The service has the message, and an untitled chat has its title from it. */
  #onStarted(): void {
    const { chat } = this.#view;
    const said = this.chat.lastMessage?.parts.find((part) => part.type === "text");
    if (chat?.title === "" && said?.type === "text") {
      const title = said.text.replace(/\s+/g, " ").trim().slice(0, 80);
      this.#show({ chat: { ...chat, title } });
    }
    this.#options.onTurn("started");
  }

  /** Reads a turn to its end. */
  async #read(turn: () => Promise<void>): Promise<void> {
    this.#show({ isReading: true });
    await turn();
    const { error } = this.chat;
    this.#show({ isReading: false, ...(error ? { fault: faultOf(error) } : {}) });
    if (this.#closed.signal.aborted) return;
    this.#options.onTurn("ended");
  }

  /**
   * A turn that goes on from an answered question goes on in that message: the same answer again
   * gets its stream. Any other begins a message of its own.
   */
  #join(): Promise<void> {
    const isAnswer = this.chat.lastMessage?.role === "assistant";
    return isAnswer ? this.chat.sendMessage() : this.chat.resumeStream();
  }

  async #takeStored(): Promise<Stored | null> {
    const { sessionId, chatId } = this.#options;
    const wasReading = this.isReading;
    let response: Response | null = null;
    for (let attempt = 0; !response; attempt++) {
      response = await this.#fetch(`/api/sessions/${sessionId}/chats/${chatId}`, {});
      if (this.#closed.signal.aborted) return null;
      if (response && response.status >= 500) response = null;
      this.#show({ connection: response ? "live" : "lost" });
      if (!response) await this.#untilRetry(attempt);
    }
    // 400 is what an address that names no chat at all gets.
    if (response.status === 404 || response.status === 400) {
      this.#show({ phase: "missing" });
      return null;
    }
    if (!response.ok) {
      const fault = faultOf(await toRefusal(response));
      this.#show(this.#view.phase === "ready" ? { fault } : { phase: "failed", fault });
      return null;
    }
    const stored = (await response.json()) as Stored;
    // A turn that began while this was under way knows more.
    if (this.isReading !== wasReading || this.#closed.signal.aborted) return null;
    this.chat.messages = keepEqual(this.chat.messages, stored.messages);
    this.#show({ phase: "ready", chat: stored.chat });
    return stored;
  }

  /** @returns null when there is no answer. */
  #fetch(path: string, init: RequestInit): Promise<Response | null> {
    const signal = this.#closed.signal;
    return this.#options.fetch(path, { ...init, signal }).catch(() => null);
  }

  #untilRetry(attempt: number): Promise<void> {
    return this.#options.untilRetry(attempt, this.#closed.signal).catch(() => {});
  }

  #show(change: Partial<ConversationView>): void {
    const next = { ...this.#view, ...change };
    const isSame = Object.entries(change).every(
      ([key, value]) => this.#view[key as keyof ConversationView] === value,
    );
    if (isSame) return;
    this.#view = next;
    for (const listener of this.#listeners) listener();
  }
}

export function isOpenQuestion(part: UIMessage["parts"][number]): boolean {
  return (
    part.type === "tool-ask_user_question" && "state" in part && part.state === "input-available"
  );
}

const unreachable: Fault = {
  text: "The service cannot be reached. Check your connection and try again.",
  requestId: null,
};

function faultOf(error: Error): Fault {
  if (!(error instanceof ChatRefused)) return { text: error.message, requestId: null };
  const text =
    error.code === "stream_active"
      ? "Another answer is being written in this chat. Your message was not sent."
      : error.message;
  return { text, requestId: error.requestId };
}

/** Messages that did not change stay the same objects, so that nothing is drawn again for them. */
function keepEqual(held: readonly UIMessage[], stored: Stored["messages"]): UIMessage[] {
  const byId = new Map(held.map((message) => [message.id, message]));
  return stored.map(({ createdAt: _, ...kept }) => {
    // The service checked these parts with the SDK's own validator.
    const message = kept as UIMessage;
    const before = byId.get(message.id);
    return before && JSON.stringify(order(before)) === JSON.stringify(order(message))
      ? before
      : message;
  });
}

const order = ({ id, role, parts, metadata }: UIMessage) => [id, role, parts, metadata];
