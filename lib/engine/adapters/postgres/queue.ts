/**
 * Delivers the Workflow SDK's messages inside this process.
 *
 * A message says only "continue this run"; the state is in the run's event log. Messages are
 * therefore not stored: a process that takes over a run sends itself a new one. Nothing travels
 * over HTTP, so the SDK's queue routes answer 404 to every request.
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
  /** Loads the route module that registers the handler of this kind. */
  readonly loadHandler: (kind: "flow" | "step") => Promise<void>;
  /** Whether this process owns the run. Messages for other runs are dropped. */
  readonly owns: (runId: string) => boolean;
  readonly onError: (error: unknown, runId: string) => void;
}

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 10_000;

export class InProcessQueue implements Queue {
  readonly #options: QueueOptions;
  readonly #handlers = new Map<string, Handler>();
  /** In-flight deliveries; `rerun` coalesces requests that arrive meanwhile. */
  readonly #active = new Map<string, { rerun: boolean }>();
  #deliveries = 0;
  /** A run outlives the request that starts it, so it must not inherit that request's context. */
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
      // An active step must not run twice; an active replay must read the log once more.
      active.rerun ||= !isStep;
      return { messageId: null };
    }
    this.#outsideOfRequests(() => {
      this.#active.set(delivery.key, { rerun: false });
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
      retryMs = Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), MAX_RETRY_MS);
    }
    const rerun = this.#active.get(delivery.key)?.rerun ?? false;
    if (retryMs !== undefined && this.#options.owns(delivery.runId)) {
      setTimeout(() => this.#deliver(delivery, attempt + 1), retryMs);
    } else if (rerun && this.#options.owns(delivery.runId)) {
      this.#active.set(delivery.key, { rerun: false });
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
