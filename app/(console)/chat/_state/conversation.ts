/**
 * The client state of one chat: its stored messages, its running turn, and the actions of a person.
 * It does not depend on React; `useConversation` connects the two.
 *
 * While no turn is being read, the stored messages are the truth. While one is, its stream is: the
 * message that the chunks add up to is exactly the one that will be stored.
 *
 * This file is long because all actions change the same few fields, in an order that matters.
 */
import type { FileUIPart } from "ai";
import type { Run } from "@/lib/running-turn/run.ts";
import type { ChatChanges } from "@/lib/sessions/contract.ts";
import type { Chat as ChatRow } from "@/lib/sessions/session.ts";
import { ApiError, toApiError } from "@/packages/client/src/api-error.ts";
import { type Connection, createConnection } from "@/packages/client/src/connection.ts";
import type { ApprovalAnswer } from "../../_approvals/approval-card.tsx";
import { type ChatError, outdatedPage, toChatError, unreachableChat } from "./chat-error.ts";
import { createChatTransport, joinsRunningTurn } from "./chat-transport.ts";
import type { Outbox, SentMessage } from "./drafts.ts";
import { type ConnectionState, LiveChat } from "./live-chat.ts";
import { type Marks, MessageBranches, noMarks } from "./message-branches.ts";
import {
  askingRun,
  fromParts,
  hasMessage,
  isOpenQuestion,
  reuseUnchanged,
  type StoredChat,
  toParts,
  type WrittenMessage,
} from "./message-parts.ts";
import { MessageQueue, type QueuedMessage } from "./message-queue.ts";
import { textAt } from "./tool-call.ts";
import type { TurnReader } from "./turn-reader.ts";

export interface ConversationView extends Marks {
  /** `missing`: the chat does not exist or is not the caller's. `failed`: it could not be read; see `error`. */
  readonly phase: "loading" | "ready" | "missing" | "failed";
  readonly chat: ChatRow | null;
  /** Undefined until they are read. */
  readonly connectors: StoredChat["connectors"] | readonly string[];
  readonly model: StoredChat["model"];
  readonly connection: ConnectionState;
  /** True while a turn is being started or read. */
  readonly isReading: boolean;
  readonly isStopping: boolean;
  /** The last failure, until the next action or until it is dismissed. */
  readonly error: ChatError | null;
  /** A message that was not accepted, was dropped by a stop or is edited, to be sent again. */
  readonly returned: WrittenMessage | null;
  readonly queued: readonly QueuedMessage[];
  /** The newest message that was sent or answered again in this tab. */
  readonly sentMessageId: string | null;
}

export interface ConversationOptions {
  readonly sessionId: string;
  readonly chatId: string;
  readonly baseUrl: string;
  /** Sends a request with the caller's credential. Rejects without a response, as `fetch` does. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Resolves when a request should be retried; `attempt` counts from 0. Rejects on abort. */
  readonly waitForRetry: (attempt: number, signal: AbortSignal) => Promise<void>;
  readonly outbox: Outbox;
  /** Called when a turn of this chat started or ended in this tab, or was refused. */
  readonly onTurn: (event: "started" | "ended" | "refused") => void;
  readonly onBranch: () => void;
}

export class Conversation {
  readonly chatId: string;
  readonly chat: LiveChat;
  readonly branches: MessageBranches;
  readonly queue: MessageQueue;
  /** The token budget of the next turns; null for none. */
  contextLimit: number | null = null;
  readonly #options: ConversationOptions;
  readonly #connection: Connection;
  readonly #listeners = new Set<() => void>();
  readonly #closed = new AbortController();
  #view: ConversationView = {
    phase: "loading",
    chat: null,
    connectors: undefined,
    model: undefined,
    connection: "live",
    isReading: false,
    isStopping: false,
    error: null,
    returned: null,
    queued: [],
    sentMessageId: null,
    ...noMarks,
  };
  /** Messages that were waiting when the turn was stopped. */
  #dropped: readonly QueuedMessage[] = [];
  /** Resolves when an approval has reached the service, and its turn is read. */
  #approved: Promise<unknown> = Promise.resolve();
  /** Resolves when the service has answered the request that the turn is read from, which no later message may overtake. */
  #answered: Promise<unknown> = Promise.resolve();
  #onAnswered = () => {};
  /** The messages that were being sent when the page was left. */
  #unsent: readonly SentMessage[];
  #onStored = () => {};
  #isOutdated = false;
  #isRefreshing = false;
  /** True from the response that reports an active turn until that turn has been read. */
  #isUnread = false;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.chatId = options.chatId;
    this.#unsent = options.outbox.read();
    this.#connection = this.#connect((request) => this.#transmit(request));
    const transport = createChatTransport({
      sessionId: options.sessionId,
      contextLimit: () => this.contextLimit,
      connection: this.#connect(async (request) => {
        const response = await this.#transmit(request);
        if (request.url.endsWith("/api/chat") && response.ok) this.#onStarted();
        this.#onAnswered();
        return response;
      }),
      onMissedEnd: () => this.#loadStored().then(() => {}),
    });
    this.queue = new MessageQueue({
      ...options,
      repeat: async (path, init) => {
        await this.#answered;
        return this.#repeat(path, init);
      },
      onChange: (queued) => this.#show({ queued }),
      onBegun: () => void this.refresh(),
    });
    this.chat = new LiveChat({
      chatId: options.chatId,
      transport,
      onConnection: (connection) => this.#show({ connection }),
      waitForRetry: (attempt) => this.#waitForRetry(attempt),
      isClosed: () => this.#closed.signal.aborted,
    });
    this.branches = new MessageBranches({
      ...options,
      chat: this.chat,
      fetch: (path, init) => this.#fetch(path, init),
      isReading: () => this.isReading,
      send: (message, body) => this.#send(message, body),
      read: (turn) => this.#read(turn),
      refresh: () => this.refresh(),
      show: (change) => this.#show(change),
    });
  }

  getView = (): ConversationView => this.#view;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /**
   * Loads the stored messages and joins the running turn. Does nothing while a turn is being read. A
   * call during a refresh makes that refresh run once more.
   */
  async refresh(): Promise<void> {
    this.#isOutdated = true;
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    await this.#refreshUntilCurrent().finally(() => {
      this.#isRefreshing = false;
    });
  }

  async #refreshUntilCurrent(): Promise<void> {
    for (let attempt = 0; this.#isOutdated && !this.#closed.signal.aborted; attempt++) {
      this.#isOutdated = false;
      if (this.isReading) break;
      const stored = await this.#loadStored();
      if (stored) this.#returnLost(stored);
      if (this.chat.isOutdated) break;
      this.#isUnread = stored?.isStreaming === true && askingRun(this.chat.lastMessage) === null;
      // The turn of the first message that waits starts in a moment.
      if (!stored || !(stored.isStreaming || this.#isWaiting) || this.isReading) continue;
      // Without a delay, a turn that cannot be read would be requested in a tight loop.
      if (attempt > 0 || !stored.isStreaming) await this.#waitForRetry(attempt);
      if (stored.isStreaming) {
        // A turn that waits for an approval has no more to read.
        if (await this.#isStillAsking(stored)) continue;
        await this.#read((reader) => this.#join(reader));
        this.#isUnread = false;
        if (askingRun(this.chat.lastMessage) !== null) continue;
        const { error } = this.chat;
        if (error instanceof ApiError && error.status >= 500) break;
        attempt = 0;
      }
      this.#isOutdated = true;
    }
  }

  /**
   * Sends a message and reads its turn to the end. While the chat is busy, the message steers the active
   * turn, or waits for its end. If the service refuses the message or the page is outdated, the message is
   * removed from the chat and is put into `returned`.
   */
  send = async (text: string, files: readonly FileUIPart[] = []): Promise<void> => {
    this.#show({ error: null });
    const id = crypto.randomUUID();
    this.#options.outbox.keep({ id, text, files });
    await this.#approved;
    if (!this.isReading && !this.#isWaiting) return this.#send({ id, text, files });
    const error = await this.queue.add(id, toParts(text, files));
    if (error) this.#show({ error, returned: { text, files } });
    if (!this.#closed.signal.aborted) this.#options.outbox.forget(id);
  };

  /**
   * Sends the first message of a new chat. Resolves to null once the service has stored it, or to the
   * reason why it was not. The caller keeps the message until then.
   */
  begin(message: SentMessage): Promise<ChatError | null> {
    return new Promise((resolve) => {
      this.#onStored = () => resolve(null);
      void this.#send(message).then(() => resolve(this.#view.error ?? outdatedPage));
    });
  }

  async #send({ id, text, files }: SentMessage, body: object = {}): Promise<void> {
    const parts = toParts(text, files);
    this.#show({ sentMessageId: id });
    await this.#read((reader) => reader.sendMessage({ id, role: "user", parts }, { body }));
    if (this.chat.error instanceof ApiError || this.chat.isOutdated) {
      this.chat.messages = this.chat.messages.filter((message) => message.id !== id);
      this.#show({ returned: { text, files } });
      this.#options.outbox.forget(id);
    }
    await this.refresh();
  }

  /** Answers one question. The turn continues once no question is open. */
  answer = async (toolCallId: string, output: unknown): Promise<void> => {
    if (this.isReading) return;
    this.#show({ error: null });
    await this.chat.act((reader) =>
      reader.addToolOutput({ tool: "ask_user_question", toolCallId, output }),
    );
    if (this.chat.lastMessage?.parts.some(isOpenQuestion)) return;
    await this.#read((reader) => reader.sendMessage());
    await this.refresh();
  };

  /**
   * Approves or denies one call. The turn continues once none is to be approved. Resolves to false, when the
   * chat is up to date, if the answer was not accepted.
   */
  approve = async (id: string, answer: ApprovalAnswer): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#approved = promise;
    this.#show({ error: null });
    const path = `${askingRun(this.chat.lastMessage)}/approvals/${id}`;
    const response = await this.#repeat(path, { method: "POST", body: JSON.stringify(answer) });
    const { approved } = answer;
    if (response?.ok) await this.chat.act((one) => one.addToolApprovalResponse({ id, approved }));
    else if (response) this.#show({ error: toChatError(await toApiError(response)) });
    const isContinued = response?.ok && askingRun(this.chat.lastMessage) === null;
    const turn = isContinued ? this.#read((reader) => reader.sendMessage()) : null;
    resolve();
    await turn;
    if (!response?.ok || isContinued) await this.refresh();
    return response?.ok ?? false;
  };

  /** Takes a waiting message back, for `returned` if it is to be `edited`. */
  async unqueue(id: string, edited: boolean): Promise<void> {
    const parts = await this.queue.remove(id);
    if (edited && parts) this.#show({ returned: fromParts(parts) });
  }

  /** Stops the running turn, which makes a waiting message the next one. */
  async sendNow(id: string): Promise<void> {
    this.#show({ error: await this.queue.sendNow(id) });
  }

  /** Stops the running turn, which drops the messages that wait for it: they are returned. Repeats the request while the turn is still being started. */
  stop = async (): Promise<void> => {
    if (this.#view.isStopping) return;
    this.#show({ isStopping: true });
    const path = `/api/chat/${this.#options.chatId}/stop`;
    const isBusy = () => this.isReading || this.#isWaiting;
    for (let attempt = 0; isBusy() && !this.#closed.signal.aborted; attempt++) {
      const response = await this.#repeat(path, { method: "POST" });
      if (response?.ok === false) {
        this.#show({ error: toChatError(await toApiError(response)) });
        break;
      }
      const answer: unknown = (await response?.json().catch(() => null)) ?? null;
      if (answer !== null) this.#dropped = [...this.#dropped, ...this.queue.takeAll()];
      if (typeof answer === "object" && answer && "stopped" in answer && answer.stopped) break;
      await this.#waitForRetry(attempt);
    }
    this.#show({ isStopping: false });
  };

  showChat = (chat: ChatRow): void => this.#show({ phase: "ready", chat });

  showConnectors = (connectors: ConversationView["connectors"]): void => this.#show({ connectors });

  showMissing = (): void => this.#show({ phase: "missing" });

  get isReading(): boolean {
    return this.#view.isReading;
  }

  async changeChat(changes: Partial<ChatChanges>): Promise<void> {
    const { sessionId, chatId } = this.#options;
    const response = await this.#fetch(`/api/sessions/${sessionId}/chats/${chatId}`, {
      method: "PATCH",
      body: JSON.stringify(changes),
    });
    if (!response) this.#show({ error: unreachableChat });
    else if (!response.ok) this.#show({ error: toChatError(await toApiError(response)) });
    else this.#show({ chat: ((await response.json()) as { chat: ChatRow }).chat });
  }

  takeReturned = (): void => this.#show({ returned: null });

  dismissError = (): void => this.#show({ error: null });

  close(): void {
    this.#closed.abort();
    this.#listeners.clear();
    void this.chat.stop();
  }

  get #isWaiting(): boolean {
    return this.#view.queued.length > 0 || this.#isUnread;
  }

  /**
   * Returns whether the turn of the last message still waits for an approval. If it continued
   * elsewhere, only the stored chunks remain, up to which the turn is read.
   */
  async #isStillAsking({ messages }: StoredChat): Promise<boolean> {
    const path = askingRun(this.chat.lastMessage);
    if (path === null) return false;
    const response = await this.#fetch(path, {});
    const run = ((await response?.json()) ?? null) as Run | null;
    if (run?.status === "requires_action") return true;
    this.chat.messages = reuseUnchanged(this.chat.messages, messages);
    return false;
  }

  /** Puts messages back into the box that a left page did not send, or that a stop dropped before the agent had them. */
  #returnLost({ messages }: StoredChat): void {
    const isLost = ({ id }: { readonly id: string }) => !hasMessage(messages, id);
    const dropped = this.#dropped.filter(isLost);
    const unsent = this.#unsent.filter(
      (one) => isLost(one) && !hasMessage(this.#view.queued, one.id),
    );
    for (const { id } of this.#unsent) this.#options.outbox.forget(id);
    [this.#dropped, this.#unsent] = [[], []];
    const parts = [
      ...dropped,
      ...unsent.map(({ text, files }) => ({ parts: toParts(text, files) })),
    ];
    if (parts.length > 0) this.#show({ returned: fromParts(parts.flatMap((one) => one.parts)) });
  }

  /** Shows the title that the service gives an untitled chat: the beginning of its first message. */
  #onStarted(): void {
    const { chat } = this.#view;
    const { lastMessage } = this.chat;
    if (lastMessage) this.#options.outbox.forget(lastMessage.id);
    this.#onStored();
    const firstText = lastMessage?.parts.find((part) => part.type === "text");
    if (chat?.title === "" && firstText?.type === "text") {
      const title = firstText.text.replace(/\s+/g, " ").trim().slice(0, 80);
      this.#show({ chat: { ...chat, title } });
    }
    this.#options.onTurn("started");
  }

  async #read(turn: (reader: TurnReader) => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    [this.#answered, this.#onAnswered] = [promise, resolve];
    this.#show({ isReading: true });
    await this.chat.act(turn).finally(resolve);
    const { error } = this.chat;
    this.#show({ isReading: false, ...(error ? { error: toChatError(error) } : {}) });
    if (this.#closed.signal.aborted) return;
    this.#options.onTurn(error instanceof ApiError ? "refused" : "ended");
  }

  /**
   * Reads the running turn. After an answered question it continues the same message, which
   * `resumeStream` would replace.
   */
  #join(reader: TurnReader): Promise<void> {
    const isContinued = this.chat.lastMessage?.role === "assistant";
    return isContinued
      ? reader.sendMessage(undefined, { metadata: joinsRunningTurn })
      : reader.resumeStream();
  }

  async #loadStored(): Promise<StoredChat | null> {
    const { sessionId, chatId } = this.#options;
    const wasReading = this.isReading;
    const showMarks = this.branches.receive();
    const path = `/api/sessions/${sessionId}/chats/${chatId}?include=branches,connectors,feedback,model,queue`;
    let stored: StoredChat | null = null;
    for (let attempt = 0; stored === null; attempt++) {
      const response = await this.#repeat(path, {});
      if (!response) return null;
      // The API answers 400 when the ids in the address are not UUIDs.
      if (response.status === 404 || response.status === 400) {
        this.#show({ phase: "missing" });
        return null;
      }
      if (!response.ok) {
        const error = toChatError(await toApiError(response));
        this.#show(this.#view.phase === "ready" ? { error } : { phase: "failed", error });
        return null;
      }
      // A body may break off, and a network that asks for a sign-in answers with a page.
      stored = await response.json().catch(() => null);
      if (this.#closed.signal.aborted) return null;
      this.#show({ connection: stored ? "live" : "lost" });
      if (!stored) await this.#waitForRetry(attempt);
    }
    showMarks(stored);
    this.queue.show(stored);
    // A turn that started or ended during the request is newer than this response.
    if (this.isReading !== wasReading || this.#closed.signal.aborted) return null;
    const { lastMessage } = this.chat;
    const messages = reuseUnchanged(this.chat.messages, stored.messages);
    // Requests for approval are stored when the turn ends.
    if (lastMessage && stored.isStreaming && askingRun(lastMessage) !== null) {
      if (messages.at(-1)?.id === lastMessage.id) messages.pop();
      if (!hasMessage(messages, lastMessage.id)) messages.push(lastMessage);
    }
    this.chat.messages = messages;
    const { chat, connectors, model } = stored;
    this.#show({ phase: "ready", chat, connectors, model });
    const isShown = textAt(messages.at(-1)?.metadata, "error") !== null;
    if (isShown && this.#view.error?.isOfTurn) this.#show({ error: null });
    return stored;
  }

  #connect(fetch: (request: Request) => Promise<Response>): Connection {
    const { baseUrl, waitForRetry } = this.#options;
    return createConnection({
      ...{ baseUrl, fetch, retryForMs: Number.POSITIVE_INFINITY },
      onRetry: () => this.#show({ connection: "lost" }),
      waitForRetry: (attempt, signal) => waitForRetry(attempt - 1, signal),
    });
  }

  async #transmit(request: Request): Promise<Response> {
    const response = await this.#options.fetch(request);
    if (response.status < 502) this.#show({ connection: "live" });
    return response;
  }

  /** Repeats a request until it has a final response. Resolves to null when the chat is closed. */
  #repeat(path: string, init: RequestInit): Promise<Response | null> {
    return this.#connection.repeat(path, withType(init), this.#closed.signal).catch(() => null);
  }

  /** Sends a request once. Resolves to null if there is no response with a complete JSON body. */
  async #fetch(path: string, init: RequestInit): Promise<Response | null> {
    const { signal } = this.#closed;
    const request = new Request(new URL(path, this.#options.baseUrl), {
      ...withType(init),
      signal,
    });
    try {
      const response = await this.#transmit(request);
      return Response.json(await response.json(), response);
    } catch {
      return null;
    }
  }

  #waitForRetry(attempt: number): Promise<void> {
    return this.#options.waitForRetry(attempt, this.#closed.signal).catch(() => {});
  }

  #show(change: Partial<ConversationView>): void {
    const isSame = Object.entries(change).every(
      ([key, value]) => this.#view[key as keyof ConversationView] === value,
    );
    if (isSame) return;
    this.#view = { ...this.#view, ...change };
    for (const listener of this.#listeners) listener();
  }
}

const withType = (init: RequestInit): RequestInit =>
  init.body === undefined ? init : { ...init, headers: { "content-type": "application/json" } };
