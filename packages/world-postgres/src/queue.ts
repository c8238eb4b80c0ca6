/**
 * Delivers the Workflow SDK's messages inside this process.
 *
 * A message says only "continue this run"; the state is in the run's event log. Messages, delayed ones
 * too, are therefore not stored: a process that takes over a run sends itself a new one, and the replay
 * finds the waits that have become due. Nothing travels over HTTP, so the SDK's queue routes answer 404
 * to every request.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  MessageId,
  parseQueueName,
  type Queue,
  type QueuePayload,
  type ValidQueueName,
} from "@workflow/world";

type Handler = Parameters<Queue["createQueueHandler"]>[1];

interface Delivery {
  readonly queueName: ValidQueueName;
  readonly message: QueuePayload;
  /** Undefined for a health check. */
  readonly runId: string | undefined;
  /** At most one message with this key is delivered at a time. */
  readonly key: string;
  /** As in `queue`. */
  readonly first?: FirstStep | undefined;
}

/** A step of a run before its first replay. Resolves with whether the run has ended. */
export type FirstStep = (runId: string) => Promise<boolean>;

interface Active {
  /** The latest message that came during a delivery; replays read the whole log, so one is enough. */
  next: Delivery | undefined;
  /** Waits for the time at which the handler asked to be called again. */
  timer: NodeJS.Timeout | undefined;
}

export interface QueueOptions {
  /** Loads the module that registers the handler of this kind. */
  readonly loadHandler: (kind: "flow" | "step") => Promise<void>;
  /** Whether this process owns the run. */
  readonly owns: (runId: string) => boolean;
  /** Notifies the owner of the run, which continues it. */
  readonly forward: (runId: string) => Promise<void>;
  /** While this process drains: the run is between two deliveries, and may be handed over. */
  readonly onIdle: (runId: string) => Promise<void>;
  readonly onError: (error: unknown, runId: string | undefined) => void;
}

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 10_000;
/** Node's timers take no more; a handler that is called too early asks for the rest. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export class InProcessQueue implements Queue {
  readonly #options: QueueOptions;
  readonly #handlers = new Map<string, Handler>();
  readonly #active = new Map<string, Active>();
  #deliveries = 0;
  /** The number of deliveries of each run that are being handled. */
  readonly #handling = new Map<string, number>();
  /** Set while this process drains: called after each delivery. */
  #whenHandled: (() => void) | undefined;
  /** A run outlives the request that starts it, so it must not inherit that request's context. */
  readonly #outsideOfRequests = AsyncLocalStorage.snapshot();

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  getDeploymentId = async (): Promise<string> => "postgres";

  /** @param first is taken before the handler is called with a message that starts a run. Never rejects. */
  queue = async (
    queueName: ValidQueueName,
    message: QueuePayload,
    options?: Parameters<Queue["queue"]>[2],
    first?: FirstStep,
  ): ReturnType<Queue["queue"]> => {
    const delivery = { ...deliveryOf(queueName, message), first };
    const { runId, key } = delivery;
    if (isContinuation(message) && runId !== undefined && !this.#options.owns(runId)) {
      await this.#options.forward(runId);
      return { messageId: null };
    }
    if (this.#whenHandled) {
      const isIdle = runId !== undefined && !this.#handling.has(runId);
      if (isIdle) this.#outsideOfRequests(() => void this.#leave(runId));
      return { messageId: null };
    }
    const active = this.#active.get(key);
    if (!active) {
      this.#active.set(key, { next: undefined, timer: undefined });
      this.#outsideOfRequests(() =>
        this.#schedule(delivery, 1, (options?.delaySeconds ?? 0) * 1000),
      );
    } else if (!("stepId" in message)) {
      // An active step must not run twice; an active replay must read the log once more.
      active.next = delivery;
      if (active.timer) this.#deliverNext(active);
    }
    return { messageId: null };
  };

  createQueueHandler: Queue["createQueueHandler"] = (prefix, handler) => {
    this.#handlers.set(prefix, handler);
    return async () => new Response(null, { status: 404 });
  };

  #schedule(delivery: Delivery, attempt: number, delayMs: number): void {
    const deliver = () => void this.#deliver(delivery, attempt);
    if (delayMs > 0) setTimeout(deliver, Math.min(delayMs, MAX_DELAY_MS));
    else setImmediate(deliver);
  }

  /** Ends a wait that the handler asked for, because there is something new to replay. */
  #deliverNext(active: Active): void {
    const { next, timer } = active;
    clearTimeout(timer);
    active.next = undefined;
    active.timer = undefined;
    if (next) this.#outsideOfRequests(() => this.#schedule(next, 1, 0));
  }

  /**
   * Starts no further delivery. Hands each of these runs over as soon as none of its deliveries is
   * being handled, and resolves when that is true of all of them or `deadline` aborts.
   */
  async drain(runIds: readonly string[], deadline: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#whenHandled = () => {
      if (this.#handling.size === 0) resolve();
    };
    deadline.addEventListener("abort", () => resolve(), { once: true });
    const idle = runIds.filter((runId) => !this.#handling.has(runId));
    await Promise.all(idle.map((runId) => this.#leave(runId)));
    if (deadline.aborted || this.#handling.size === 0) return;
    await promise;
  }

  async #leave(runId: string): Promise<void> {
    await this.#options.onIdle(runId).catch((error) => this.#options.onError(error, runId));
  }

  async #deliver({ first, ...delivery }: Delivery, attempt: number): Promise<void> {
    if (this.#whenHandled) return;
    const { runId, key } = delivery;
    if (runId !== undefined) this.#handling.set(runId, (this.#handling.get(runId) ?? 0) + 1);
    if (first && runId !== undefined && (await first(runId))) this.#active.delete(key);
    // This process may have started to drain.
    else if (!this.#whenHandled) await this.#handle(delivery, attempt);
    if (runId !== undefined) await this.#handled(runId);
  }

  async #handled(runId: string): Promise<void> {
    const left = (this.#handling.get(runId) ?? 0) - 1;
    if (left > 0) {
      this.#handling.set(runId, left);
      return;
    }
    if (this.#whenHandled) await this.#leave(runId);
    this.#handling.delete(runId);
    this.#whenHandled?.();
  }

  async #handle(delivery: Delivery, attempt: number): Promise<void> {
    let waitMs: number | undefined;
    let failed = false;
    try {
      const handler = await this.#handlerOf(delivery.queueName);
      const result = await handler(delivery.message, {
        attempt,
        queueName: delivery.queueName,
        messageId: MessageId.parse(`msg_${++this.#deliveries}`),
      });
      if (result) waitMs = result.timeoutSeconds * 1000;
    } catch (error) {
      this.#options.onError(error, delivery.runId);
      failed = true;
    }
    const active = this.#active.get(delivery.key);
    if (!active) return;
    const { next = delivery } = active;
    if (delivery.runId === undefined || !this.#options.owns(delivery.runId)) {
      this.#active.delete(delivery.key);
    } else if (failed) {
      const retryMs = Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), MAX_RETRY_MS);
      active.next = undefined;
      this.#schedule(next, attempt + 1, retryMs);
    } else if (active.next || waitMs === 0) {
      active.next = next;
      this.#deliverNext(active);
    } else if (waitMs !== undefined) {
      // Only failures count as attempts: a run may wait any number of times.
      active.timer = setTimeout(
        () => {
          active.next = delivery;
          this.#deliverNext(active);
        },
        Math.min(waitMs, MAX_DELAY_MS),
      );
    } else {
      this.#active.delete(delivery.key);
    }
  }

  async #handlerOf(queueName: ValidQueueName): Promise<Handler> {
    const { kind, prefix } = parseQueueName(queueName);
    await this.#options.loadHandler(kind === "step" ? "step" : "flow");
    const handler = this.#handlers.get(prefix);
    if (!handler) throw new Error(`No handler is registered for ${queueName}`);
    return handler;
  }
}

/** Returns whether a message only continues a run: it neither creates one nor executes a step. */
const isContinuation = (message: QueuePayload): boolean =>
  "runId" in message && message.runInput === undefined;

function deliveryOf(queueName: ValidQueueName, message: QueuePayload): Delivery {
  if ("runId" in message) return { queueName, message, runId: message.runId, key: message.runId };
  if ("stepId" in message) {
    const { workflowRunId: runId, stepId } = message;
    return { queueName, message, runId, key: `${runId} ${stepId}` };
  }
  return { queueName, message, runId: undefined, key: message.correlationId };
}
