/**
 * The messages of a chat, and the turns that are read into them. Stored messages are shown without the AI
 * SDK; it is loaded for the first turn.
 */
import type { ChatTransport, UIMessage } from "ai";
import { isOutdated, loadModule } from "../../_load/load-module.ts";
import { ChatMessages } from "./chat-messages.ts";
import type { TurnReader } from "./turn-reader.ts";

/** `lost`: a request failed or a stream broke off, and it is being retried. */
export type ConnectionState = "live" | "lost";

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

export class LiveChat {
  readonly #options: LiveChatOptions;
  readonly #messages = new ChatMessages();
  #reader: TurnReader | null = null;
  #isOutdated = false;

  constructor(options: LiveChatOptions) {
    this.#options = options;
  }

  readonly subscribe = this.#messages.subscribe;
  readonly getShown = this.#messages.getShown;

  get messages(): UIMessage[] {
    return this.#messages.messages;
  }

  set messages(messages: UIMessage[]) {
    this.#messages.messages = messages;
  }

  get lastMessage(): UIMessage | undefined {
    return this.messages.at(-1);
  }

  /** True once the SDK is no longer on the server: turns can be read after a reload only. */
  get isOutdated(): boolean {
    return this.#isOutdated;
  }

  /** Why the last turn could not be read to its end. */
  get error(): Error | undefined {
    return this.#messages.error;
  }

  async sendMessage(...message: Parameters<TurnReader["sendMessage"]>): Promise<void> {
    await (await this.#load())?.sendMessage(...message);
  }

  async resumeStream(): Promise<void> {
    await (await this.#load())?.resumeStream();
  }

  async addToolOutput(...output: Parameters<TurnReader["addToolOutput"]>): Promise<void> {
    await (await this.#load())?.addToolOutput(...output);
  }

  async stop(): Promise<void> {
    await this.#reader?.stop();
  }

  /** Resolves to null when the chat was closed meanwhile or the page is outdated. */
  async #load(): Promise<TurnReader | null> {
    const { chatId, transport, onConnection, waitForRetry, isClosed } = this.#options;
    for (let attempt = 0; this.#reader === null && !isClosed(); attempt++) {
      const module = await importReader().catch(() => null);
      this.#isOutdated = module === null && isOutdated();
      if (this.#isOutdated) break;
      onConnection(module === null ? "lost" : "live");
      if (module === null) await waitForRetry(attempt);
      else {
        this.#reader ??= new module.TurnReader({
          ...{ id: chatId, transport, state: this.#messages },
          generateId: () => crypto.randomUUID(),
        });
      }
    }
    return this.#reader;
  }
}
