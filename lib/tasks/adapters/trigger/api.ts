/**
 * Trigger.dev's management API over plain HTTP. The SDK, `@trigger.dev/sdk` (4.8), is not used: its
 * calls cannot be cancelled, so that an unresponsive server would hold a socket for minutes after our
 * deadline; it strips fields that its own schema lacks, among them `attempts`; and it rejects a whole
 * page because of one run with a status it does not know.
 */
import type { Logger } from "pino";
import { type AppError, appError } from "../../../contract/app-error.ts";
import { requestJson } from "../../../platform/outbound/fetch-json.ts";

export interface TriggerAccess {
  readonly secretKey: string;
  /** The origin: `https://api.trigger.dev`, or that of a self-hosted instance. */
  readonly apiUrl: string;
}

/** What the upstream requests of one call of the port share. */
export interface Ask {
  /** The deadline. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export const taskRunnerUnavailable = appError("upstream_error", "Task runner unavailable");
const timedOut = appError("upstream_timeout", "Task runner did not answer in time");

/** The API answered 404. */
export const missing = Symbol("missing");

/** Returns JSON of the API. Errors: 502; 504 when the deadline has passed. */
export function getJson(
  { apiUrl, secretKey }: TriggerAccess,
  path: string,
  ask: Ask,
): Promise<{ readonly value: unknown } | typeof missing | AppError> {
  return askJson(new URL(path, apiUrl), { authorization: `Bearer ${secretKey}` }, ask);
}

/**
 * Returns a payload or an output that is stored outside the run, behind a signed URL, because it is
 * too large. Errors: 502, 504.
 */
export async function getPacket(
  url: string,
  ask: Ask,
): Promise<{ readonly value: unknown } | AppError> {
  const answer = await askJson(url, {}, ask);
  return answer === missing ? taskRunnerUnavailable : answer;
}

async function askJson(
  url: URL | string,
  headers: Record<string, string>,
  { signal, log }: Ask,
): Promise<{ readonly value: unknown } | typeof missing | AppError> {
  const answer = await requestJson(url, { vendor: "trigger", headers, deadline: signal });
  if (answer.kind === "json") return { value: answer.body };
  if (answer.kind !== "refused") {
    log.warn({ err: answer.cause }, "Trigger.dev did not answer");
    return answer.kind === "timeout" ? timedOut : taskRunnerUnavailable;
  }
  const { status, retryAfter } = answer;
  if (status === 404) return missing;
  log.warn({ status }, "Trigger.dev answered with an error");
  return retryAfter === null
    ? taskRunnerUnavailable
    : { ...taskRunnerUnavailable, headers: { "retry-after": retryAfter } };
}
