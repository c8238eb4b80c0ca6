/**
 * The messages of a chat, and the turns that are read into them. Stored messages are shown without the AI
 * SDK; it is loaded for the first turn.
 */
import type { ChatState, ChatStatus, ChatTransport, UIMessage } from "ai";
import { isOutdated, loadModule } from "../../_load/load-module.ts";
import type { TurnReader } from "./turn-reader.ts";

/** `lost`: a request failed or a stream broke off, and it is being retried. */
export type ConnectionState = "live" | "lost";

const RENDER_INTERVAL_MS = 50;

interface LiveChatOptions {
  readonly chatId: string;
  readonly transport: ChatTransport<UIMessage>;
  readonly onConnection: (state: ConnectionState) => void;
  /** Resolves when the SDK, which could not be loaded, should be requested again. */
  readonly waitForRetry: (attempt: number) => Promise<void>;
  readonly isClosed: () => boolean;
}

const importReader = () => loadModule(() => import("./turn-reader.ts"));

/** Loads the SDK in advance of a turn. */
export const prepareTurn = (): void => void importReader().catch(() => {});

export class LiveChat implements ChatState<UIMessage> {
  /** Why the last turn could not be read to its end. */
  error: Error | undefined;
  /** True once the SDK is no longer on the server: turns can be read after a reload only. */
  isOutdated = false;
  #status: ChatStatus = "ready";
  #messages: UIMessage[] = [];
  #shown: readonly UIMessage[] = this.#messages;
  #shownAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #options: LiveChatOptions;
  #reader: TurnReader | null = null;

  constructor(options: LiveChatOptions) {
    this.#options = options;
  }

  /** Returns the messages to render. They lag behind `messages` while a message streams. */
  getShown = (): readonly UIMessage[] => this.#shown;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get messages(): UIMessage[] {
    return this.#messages;
  }

  set messages(messages: UIMessage[]) {
    this.#messages = [...messages];
    this.#show();
  }

  get status(): ChatStatus {
    return this.#status;
  }

  set status(status: ChatStatus) {
    this.#status = status;
    if (this.#timer !== undefined && status !== "streaming") this.#show();
  }

  pushMessage = (message: UIMessage): void => {
    this.#messages = [...this.#messages, this.snapshot(message)];
    this.#show();
  };

  popMessage = (): void => {
    this.#messages = this.#messages.slice(0, -1);
    this.#show();
  };

  /** Called for every chunk. The page is rendered at most once in each interval. */
  replaceMessage = (index: number, message: UIMessage): void => {
    this.#messages = this.#messages.with(index, this.snapshot(message));
    const wait = this.#shownAt + RENDER_INTERVAL_MS - performance.now();
    if (wait <= 0) this.#show();
    else this.#timer ??= setTimeout(() => this.#show(), wait);
  };

  /** Copies a message, because the SDK changes its parts in place; their values are replaced as a whole. */
  snapshot = <T>(value: T): T => {
    const parts: unknown = Object(value).parts;
    return Array.isArray(parts) ? { ...value, parts: parts.map((part) => ({ ...part })) } : value;
  };

  get lastMessage(): UIMessage | undefined {
    return this.messages.at(-1);
  }

  /** Reads or changes a turn with the SDK. Does nothing when the chat is closed or the page is outdated. */
  async act(action: (reader: TurnReader) => unknown): Promise<void> {
    const reader = await this.#load();
    if (reader) await action(reader);
  }

  async stop(): Promise<void> {
    await this.#reader?.stop();
  }

  /** Resolves to null when the chat is closed or the page is outdated. */
  async #load(): Promise<TurnReader | null> {
    const { chatId, transport, onConnection, waitForRetry, isClosed } = this.#options;
    for (let attempt = 0; this.#reader === null && !isClosed(); attempt++) {
      const module = await importReader().catch(() => null);
      this.isOutdated = module === null && isOutdated();
      if (this.isOutdated) break;
      onConnection(module === null ? "lost" : "live");
      if (module === null) await waitForRetry(attempt);
      else {
        this.#reader ??= new module.TurnReader({
          ...{ id: chatId, transport, state: this },
          generateId: () => crypto.randomUUID(),
        });
      }
    }
    return this.#reader;
  }

  #show(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#shownAt = performance.now();
    this.#shown = this.#messages;
    for (const listener of this.#listeners) listener();
  }
}
