/**
 * The messages of a chat that wait for the next step of the active turn, or for its end. The
 * service stores and delivers them; this is the page's view of them.
 */
import type { UIMessage } from "ai";
import { toApiError } from "@/packages/client/src/api-error.ts";
import { type ChatError, toChatError } from "./chat-error.ts";
import { hasMessage, type StoredChat } from "./message-parts.ts";

export interface QueuedMessage {
  readonly id: string;
  readonly parts: UIMessage["parts"];
  /** `sending`: the service has not confirmed it yet. */
  readonly state: "sending" | "waiting";
}

interface MessageQueueOptions {
  readonly sessionId: string;
  readonly chatId: string;
  /** Repeats a request, each of which is idempotent, until it has a final response; null when the chat is closed. */
  readonly repeat: (path: string, init: RequestInit) => Promise<Response | null>;
  readonly onChange: (messages: readonly QueuedMessage[]) => void;
  readonly onBegun: () => void;
}

const EMPTY: readonly QueuedMessage[] = [];

export class MessageQueue {
  readonly #options: MessageQueueOptions;
  #messages = EMPTY;

  constructor(options: MessageQueueOptions) {
    this.#options = options;
  }

  show({ queue = [], messages }: StoredChat): void {
    // A message may have reached the agent while the chat was read.
    const waiting = queue.filter(({ id }) => !hasMessage(messages, id));
    const isListed = ({ id }: QueuedMessage) => waiting.some((message) => message.id === id);
    const sending = this.#messages.filter((one) => one.state === "sending" && !isListed(one));
    this.#show([
      ...waiting.map(({ id, parts }) => ({
        id,
        // The service checked these parts with the SDK's own validator.
        parts: parts as UIMessage["parts"],
        state: "waiting" as const,
      })),
      ...sending,
    ]);
  }

  /** Adds a message, or returns why it was refused. */
  async add(id: string, parts: UIMessage["parts"]): Promise<ChatError | null> {
    const message: QueuedMessage = { id, parts, state: "sending" };
    this.#show([...this.#messages, message]);
    const response = await this.#post(message, "steer");
    if (response !== null && !response.ok) this.#drop(message.id);
    return this.#settle(message, response);
  }

  /** Stops the active turn, and answers this message next. Returns why that was refused. */
  async sendNow(id: string): Promise<ChatError | null> {
    const message = this.#messages.find((one) => one.id === id);
    if (!message) return null;
    const others = this.#messages.filter((one) => one !== message);
    this.#show([message, ...others]);
    return this.#settle(message, await this.#post(message, "interrupt"));
  }

  /** Removes a message, and returns its parts; null if its turn has started or the service refuses. */
  async remove(id: string): Promise<UIMessage["parts"] | null> {
    const message = this.#messages.find((one) => one.id === id);
    const path = `/api/chat/${this.#options.chatId}/queue/${encodeURIComponent(id)}`;
    const response = await this.#options.repeat(path, { method: "DELETE" });
    if (!response?.ok && response?.status !== 404) return null;
    this.#drop(id);
    return response.ok && message ? message.parts : null;
  }

  takeAll(): readonly QueuedMessage[] {
    const all = this.#messages;
    this.#show(EMPTY);
    return all;
  }

  #post({ id, parts }: QueuedMessage, onBusy: "steer" | "interrupt") {
    const { sessionId, chatId } = this.#options;
    const messages = [{ id, role: "user", parts }];
    const body = JSON.stringify({ sessionId, chatId, onBusy, messages });
    return this.#options.repeat("/api/chat", { method: "POST", body });
  }

  async #settle(message: QueuedMessage, response: Response | null): Promise<ChatError | null> {
    if (response === null) return null;
    if (!response.ok) return toChatError(await toApiError(response));
    // A message that waits gets the stream of the turn that answers it, which the page reads anyway.
    await response.body?.cancel();
    // A message stays listed as waiting until the page has read the turn that it started.
    this.#show(
      this.#messages.map((one) => (one.id === message.id ? { ...one, state: "waiting" } : one)),
    );
    if (response.headers.has("x-workflow-run-id")) this.#options.onBegun();
    return null;
  }

  #drop(id: string): void {
    this.#show(this.#messages.filter((one) => one.id !== id));
  }

  #show(messages: readonly QueuedMessage[]): void {
    this.#messages = messages.length === 0 ? EMPTY : messages;
    this.#options.onChange(this.#messages);
  }
}
