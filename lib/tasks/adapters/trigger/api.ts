/**
 * Trigger.dev's management API over plain HTTP. `@trigger.dev/sdk` (4.8) has no way to cancel its
 * calls, so a silent server would hold a socket for minutes after our deadline, and it strips from
 * every run what its own schema lacks, the specified `attempts` among it. It also refuses a whole
 * page for one run of a status that it does not know, and three GETs need none of the rest of it.
 */
import type { Logger } from "pino";
import { type AppError, appError } from "../../../contract/app-error.ts";
import { readRetryAfter } from "../../../platform/outbound/fetch-json.ts";
import { readJson } from "../../../platform/outbound/read-text.ts";

export interface TriggerAccess {
  readonly secretKey: string;
  /** Its origin, `https://api.trigger.dev` unless it is hosted elsewhere. */
  readonly apiUrl: string;
}

/** What the calls for one request of ours have in common. */
export interface Ask {
  /** Its deadline. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export const taskRunnerUnavailable = appError("upstream_error", "Task runner unavailable");
const timedOut = appError("upstream_timeout", "Task runner did not answer in time");

/** Answered 404. */
export const missing = Symbol("missing");

/** JSON of the API. Errors: 502, 504 when the deadline has passed. */
export async function getJson(
  { apiUrl, secretKey }: TriggerAccess,
  path: string,
  ask: Ask,
): Promise<{ readonly value: unknown } | typeof missing | AppError> {
  return askJson(new URL(path, apiUrl), { authorization: `Bearer ${secretKey}` }, ask);
}

/**
 * A payload or an output that is too large for the run itself, behind a signed address.
 * Errors: 502, 504.
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
  try {
    // A redirect would carry the key, or our trust, elsewhere.
    const response = await fetch(url, { headers, signal, redirect: "error", cache: "no-store" });
    if (response.ok) return { value: await readJson(response) };
    await response.body?.cancel();
    if (response.status === 404) return missing;
    log.warn({ status: response.status }, "Trigger.dev answered with an error");
    const retryAfter = readRetryAfter(response.headers.get("retry-after"));
    return retryAfter === null
      ? taskRunnerUnavailable
      : { ...taskRunnerUnavailable, headers: { "retry-after": retryAfter } };
  } catch (error) {
    log.warn({ err: error }, "Trigger.dev did not answer");
    return signal.aborted ? timedOut : taskRunnerUnavailable;
  }
}
