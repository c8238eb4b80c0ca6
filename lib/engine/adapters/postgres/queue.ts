/**
 * Delivers the Workflow SDK's messages inside this process.
 *
 * A message only says "go on with this run"; what to go on with is in the run's event log. So
 * messages need not be stored: whoever owns a run after a crash sends itself a new one. And since
 * nothing travels over HTTP, the SDK's queue routes have nothing to accept: they answer 404 to all.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { MessageId, type Queue, type QueuePayload, type ValidQueueName } from "@workflow/world";

type Handler = Parameters<Queue["createQueueHandler"]>[1];

interface Delivery {
  readonly queueName: ValidQueueName;
  readonly message: QueuePayload;
  readonly runId: string;
  readonly key: string;
}

export interface QueueOptions {
  /** Makes the runtime load the route module that registers the handler of this kind. */
  readonly loadHandler: (kind: "flow" | "step") => Promise<void>;
  /** False once the run belongs to another process: its messages are then nobody's. */
  readonly owns: (runId: string) => boolean;
  readonly onError: (error: unknown, runId: string) => void;
}

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 10_000;

export class InProcessQueue implements Queue {
  readonly #options: QueueOptions;
  readonly #handlers = new Map<string, Handler>();
  /** Deliveries under way, and whether the same one was asked for again meanwhile. */
  readonly #active = new Map<string, { again: boolean }>();
  #deliveries = 0;
  /** A run outlives the request that started it, so it must not inherit that request's context. */
  readonly #outsideOfRequests = AsyncLocalStorage.snapshot();

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  getDeploymentId = async (): Promise<string> => "postgres";

  queue: Queue["queue"] = async (queueName, message, options) => {
    const runId = runIdOf(message);
    const isStep = "stepId" in message;
    const delivery = { queueName, message, runId, key: isStep ? message.stepId : runId };
    const active = this.#active.get(delivery.key);
    if (active) {
      // A running step is not run twice; a running replay looks at the log once more.
      active.again ||= !isStep;
      return { messageId: null };
    }
    this.#outsideOfRequests(() => {
      this.#active.set(delivery.key, { again: false });
      const delayMs = (options?.delaySeconds ?? 0) * 1000;
      if (delayMs > 0) setTimeout(() => this.#deliver(delivery, 1), delayMs);
      else setImmediate(() => this.#deliver(delivery, 1));
    });
    return { messageId: null };
  };

  createQueueHandler: Queue["createQueueHandler"] = (prefix, handler) => {
    this.#handlers.set(prefix, handler);
    return async () => new Response(null, { status: 404 });
  };

  async #deliver(delivery: Delivery, attempt: number): Promise<void> {
    let retryMs: number | undefined;
    try {
      const handler = await this.#handlerOf(delivery.queueName);
      const result = await handler(delivery.message, {
        attempt,
        queueName: delivery.queueName,
        messageId: MessageId.parse(`msg_${++this.#deliveries}`),
      });
      if (result) retryMs = result.timeoutSeconds * 1000;
    } catch (error) {
      this.#options.onError(error, delivery.runId);
      retryMs = Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LAST_RETRY_MS);
    }
    const again = this.#active.get(delivery.key)?.again ?? false;
    if (retryMs !== undefined && this.#options.owns(delivery.runId)) {
      setTimeout(() => this.#deliver(delivery, attempt + 1), retryMs);
    } else if (again && this.#options.owns(delivery.runId)) {
      this.#active.set(delivery.key, { again: false });
      setImmediate(() => this.#deliver(delivery, 1));
    } else {
      this.#active.delete(delivery.key);
    }
  }

  async #handlerOf(queueName: ValidQueueName): Promise<Handler> {
    const kind = queueName.includes("_step_") ? "step" : "flow";
    await this.#options.loadHandler(kind);
    for (const [prefix, handler] of this.#handlers) {
      if (queueName.startsWith(prefix)) return handler;
    }
    throw new Error(`No handler is registered for ${queueName}`);
  }
}

function runIdOf(message: QueuePayload): string {
  if ("runId" in message) return message.runId;
  if ("workflowRunId" in message) return message.workflowRunId;
  throw new Error("This engine has no health-check messages");
}
