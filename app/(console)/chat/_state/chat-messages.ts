/** The messages of a chat as a store that React reads, and that the AI SDK writes the chunks of a turn into. */
import type { ChatState, ChatStatus, UIMessage } from "ai";

/** The shortest time between two renders of a streaming message. */
const RENDER_INTERVAL_MS = 50;

export class ChatMessages implements ChatState<UIMessage> {
  error: Error | undefined;
  #status: ChatStatus = "ready";
  #messages: UIMessage[] = [];
  #shown: readonly UIMessage[] = this.#messages;
  #shownAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();

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

  /** Called for every chunk. What is rendered changes at most once in each interval. */
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

  #show(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#shownAt = performance.now();
    this.#shown = this.#messages;
    for (const listener of this.#listeners) listener();
  }
}
