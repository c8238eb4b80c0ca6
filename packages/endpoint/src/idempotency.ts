/**
 * `Idempotency-Key`: one effect and one response, however often a request is sent.
 *
 * It guarantees, for each account and key, for 24 hours and across all servers:
 *
 * - One attempt runs at a time; concurrent ones get 409 and may retry.
 * - Once an attempt has succeeded or was refused, every repetition gets the same response. After a
 *   5xx, a conflict, a rate limit or a full quota, the next repetition is a new attempt.
 * - An attempt whose process dies is replaced when its lease expires. The next attempt has the same
 *   effect id, so an effect whose transaction is tied to that id happens once; each use case sees to
 *   this. It also holds when an attempt outlives its lease: both attempts arrive at the one effect,
 *   and only the response of the later one is stored.
 */
import type { Logger } from "pino";
import { z } from "zod";
import {
  type AppError,
  appError,
  type ErrorCode,
  invalidField,
  isAppError,
  statusOf,
} from "./contract/app-error.ts";

/** Errors that a deletion or another budget resolves. */
const RESOLVABLE: readonly ErrorCode[] = [
  "budget_reached",
  "unpriced_model",
  "quota_exceeded",
  "messages_full",
  "chat_full",
  "sandboxes_full",
  "media_full",
];

/** The time after which the key of a dead process becomes available. */
export const LEASE_SECONDS = 15;
const EXTEND_MS = 5_000;

/** Returns the key; null when the request has none. Errors: 400. */
export function readIdempotencyKey(headers: Headers): string | null | AppError {
  const key = headers.get("idempotency-key");
  if (key === null || (key.length >= 1 && key.length <= 255)) return key;
  return invalidField("Idempotency-Key", "Idempotency-Key must be 1 to 255 characters");
}

/** A starting attempt of the requests with one key. The service provides the store of attempts. */
export type Attempt =
  /** Another attempt runs, or the key was used with another content. */
  | { readonly outcome: "running" | "mismatch" }
  | { readonly outcome: "done"; readonly answer: string }
  | {
      readonly outcome: "begun";
      /** The id of the effect, the same in all attempts. */
      readonly effectId: string;
      /** Extends the lease to LEASE_SECONDS from now. */
      extend(): Promise<unknown>;
      /** Ends the attempt. @param answer to store; null for one that must not be repeated */
      end(answer: string | null): Promise<unknown>;
    };

/**
 * Resolves to the stored response, or to the response of `answer`, which is called at most once. Errors:
 * 409 while another attempt runs, 422 when the key was used with another content.
 */
export async function answerOnce(
  attempt: Attempt,
  log: Logger,
  answer: (effectId: string) => Promise<AppError | Response>,
): Promise<AppError | Response> {
  switch (attempt.outcome) {
    case "mismatch":
      return appError("idempotency_mismatch", "Idempotency-Key was used with a different request");
    case "running":
      return appError(
        "idempotency_in_progress",
        "A request with this Idempotency-Key is still running",
        { headers: { "retry-after": "1" } },
      );
    case "done":
      return restore(attempt.answer);
    case "begun":
      break;
  }

  const extend = setInterval(() => {
    attempt
      .extend()
      .catch((err: unknown) =>
        log.warn({ err }, "the idempotency key's lease could not be extended"),
      );
  }, EXTEND_MS);
  let kept: string | null = null;
  try {
    const result = await answer(attempt.effectId);
    kept = await serialize(result);
    return result;
  } finally {
    clearInterval(extend);
    // If this fails, the next attempt finds the effect by its id.
    await attempt
      .end(kept)
      .catch((err: unknown) =>
        log.warn({ err }, "the idempotency key's answer could not be stored"),
      );
  }
}

/** Returns JSON with sorted keys, so their order makes no difference to a fingerprint. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}

const headersShape = z.record(z.string(), z.string());
const storedAnswer = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("response"),
    status: z.int(),
    headers: headersShape,
    body: z.string().nullable(),
  }),
  z.object({
    kind: z.literal("app-error"),
    code: z.custom<ErrorCode>((code) => typeof code === "string" && Object.hasOwn(statusOf, code)),
    message: z.string(),
    fields: z.array(z.string()).optional(),
    headers: headersShape.optional(),
  }),
]);

/** Serializes a response to store; null for one that must not be repeated. */
async function serialize(answer: AppError | Response): Promise<string | null> {
  const status = isAppError(answer) ? statusOf[answer.code] : answer.status;
  if (status >= 500 || status === 409 || status === 429) return null;
  // Then the same request succeeds.
  if (isAppError(answer) && RESOLVABLE.includes(answer.code)) return null;
  if (isAppError(answer)) return JSON.stringify(answer);
  const body = answer.body === null ? null : await answer.clone().text();
  const headers = Object.fromEntries(answer.headers);
  return JSON.stringify({ kind: "response", status, headers, body });
}

function restore(text: string): AppError | Response {
  const { headers = {}, ...answer } = storedAnswer.parse(JSON.parse(text));
  const replayed = { ...headers, "idempotency-replayed": "true" };
  if (answer.kind === "response") {
    return new Response(answer.body, { status: answer.status, headers: replayed });
  }
  const { code, message, fields } = answer;
  return appError(code, message, { ...(fields && { fields }), headers: replayed });
}
