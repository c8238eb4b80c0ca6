/**
 * Calls of `@trigger.dev/sdk`. A call cannot be cancelled: an unresponsive service holds it for minutes.
 * So each races a deadline, is made once, and keeps its slot until it ends, even if its caller no longer
 * waits. The SDK is loaded with the first call, because loading takes most of a second and 60 MB of
 * memory.
 */
import type { TriggerClient } from "@trigger.dev/sdk";
import type { Logger } from "pino";
import { z } from "zod";
import { type AppError, appError } from "../../../contract/app-error.ts";
import { FairQueue } from "../../../platform/fair-queue.ts";
import { readRetryAfter } from "../../../platform/outbound/fetch-json.ts";
import { traceRequest } from "../../../platform/outbound/vendor-fetch.ts";

export interface TriggerAccess {
  readonly secretKey: string;
  /** The origin: `https://api.trigger.dev`, or a self-hosted instance. */
  readonly apiUrl: string;
}

/** The state that the upstream requests of one call of the port share. */
export interface Ask {
  readonly accountId: string;
  /** The deadline. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Calls that one process has outstanding, hung ones included. */
const MAX_CALLS = 32;
const MAX_WAITERS = 1_000;
/** The deadline of all upstream requests that one call of the port makes. */
export const DEADLINE_MS = 10_000;

export const taskRunnerUnavailable = appError("upstream_error", "Task runner unavailable");
const timedOut = appError("upstream_timeout", "Task runner did not answer in time");

/** The service says that there is no such thing. */
export const missing = Symbol("missing");

/** An answer that the SDK does not understand, as of one run with a status that it does not know. */
export class StrangeAnswer {
  readonly body: unknown;
  constructor(body: unknown) {
    this.body = body;
  }
}

export type CallSdk = <T>(
  ask: Ask,
  method: "GET" | "POST",
  work: (sdk: TriggerClient) => Promise<T>,
) => Promise<T | StrangeAnswer | typeof missing | AppError>;

/** Errors of the returned function: 502; 504 when the deadline has passed. It never throws. */
export function createSdkCaller({ secretKey, apiUrl }: TriggerAccess): CallSdk {
  const queue = new FairQueue({
    name: "task_runner_calls",
    slots: MAX_CALLS,
    waitersPerAccount: MAX_WAITERS,
    maxWaitMs: DEADLINE_MS,
  });
  let loading: Promise<TriggerClient> | undefined;
  async function load(): Promise<TriggerClient> {
    const sdk = await import("@trigger.dev/sdk");
    const requestOptions = { retry: { maxAttempts: 1 } };
    return new sdk.TriggerClient({ accessToken: secretKey, baseURL: apiUrl, requestOptions });
  }
  return async ({ accountId, signal, log }, method, work) => {
    loading ??= load();
    const late = Promise.withResolvers<AppError>();
    const expire = () => late.resolve(timedOut);
    signal.addEventListener("abort", expire, { once: true });
    try {
      const sdk = await loading;
      const release = await queue.acquire(accountId, signal);
      const call = attempt(method, () => work(sdk)).finally(release);
      return await Promise.race([call.then((outcome) => resultOf(outcome, log)), late.promise]);
    } catch (cause) {
      log.warn({ err: cause }, "Trigger.dev did not answer");
      return signal.aborted ? timedOut : taskRunnerUnavailable;
    } finally {
      signal.removeEventListener("abort", expire);
    }
  };
}

/** The errors of the SDK that come with an answer of the service. Their texts must not be shown. */
const refusal = z.object({
  status: z.int(),
  /** The service's own error; a 404 of anything else has none. */
  error: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional().catch(undefined),
  rawBody: z.unknown().optional(),
});
type Outcome<T> =
  | { readonly status: 200; readonly value: T | StrangeAnswer }
  | z.output<typeof refusal>;

/** @throws the connection's error */
const attempt = <T>(method: "GET" | "POST", work: () => Promise<T>): Promise<Outcome<T>> =>
  traceRequest<Outcome<T>>("trigger", method, async () => {
    try {
      return { status: 200, value: await work() };
    } catch (error) {
      const { data } = refusal.safeParse(error);
      if (!data) throw error;
      return data.status < 300 ? { status: 200, value: new StrangeAnswer(data.rawBody) } : data;
    }
  });

function resultOf<T>(outcome: Outcome<T>, log: Logger) {
  if ("value" in outcome) return outcome.value;
  const { status, error, headers } = outcome;
  if (status === 404 && error !== undefined) return missing;
  log.warn({ status }, "Trigger.dev answered with an error");
  const retryAfter = readRetryAfter(headers?.["retry-after"] ?? null);
  return retryAfter === null
    ? taskRunnerUnavailable
    : { ...taskRunnerUnavailable, headers: { "retry-after": retryAfter } };
}
