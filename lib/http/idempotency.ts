/**
 * `Idempotency-Key`: one effect and one answer, however often a request is sent. Decisions, section 1.
 *
 * What is guaranteed, for each account and key, for 24 hours, whichever servers the requests reach:
 *
 * - One attempt runs at a time; the others are told so (409) and may ask again.
 * - Once an attempt has answered with a success or a refusal, every repetition gets that answer.
 *   After a failure of a service or of this one (5xx), a conflict, a limit or a full quota, the
 *   next repetition tries again.
 * - An attempt whose process dies is replaced when its lease runs out. The attempt that replaces it
 *   has the same effect id, so an effect that is tied to that id, in the transaction that brings it
 *   about, happens once: this is the part of each use case. So it is also when an attempt that was
 *   taken for dead still lives: both come to the one effect, and only the later one's answer is kept.
 */
import { createHmac } from "node:crypto";
import type { Logger } from "pino";
import { z } from "zod";
import { type AppError, appError, type ErrorCode, isAppError } from "../contract/app-error.ts";
import { config } from "../platform/config.ts";
import { openText, sealText } from "../platform/seal-text.ts";
import { statusOf } from "./error-response.ts";
import {
  beginIdempotent,
  endIdempotent,
  extendIdempotent,
  type StoredKey,
} from "./idempotency-store.ts";

/** How long after a process's death its key is free again. */
const LEASE_SECONDS = 15;
const EXTEND_MS = 5_000;

/** Null when the request has none. Errors: 400. */
export function readIdempotencyKey(headers: Headers): string | null | AppError {
  const key = headers.get("idempotency-key");
  if (key === null || (key.length >= 1 && key.length <= 255)) return key;
  return appError("invalid_request", "Idempotency-Key must be 1 to 255 characters", {
    fields: ["Idempotency-Key"],
  });
}

export interface KeyedRequest {
  /** The account that the credential belongs to. */
  readonly accountId: string;
  readonly key: string;
  /** Everything that the answer depends on; JSON. */
  readonly content: unknown;
  readonly log: Logger;
}

/**
 * The answer that stands, or that of `answer`, which is called at most once.
 * Errors: 409 while another attempt runs, 422 when the key was used with another content.
 */
export async function answerOnce(
  { accountId, key, content, log }: KeyedRequest,
  answer: (effectId: string) => Promise<AppError | Response>,
): Promise<AppError | Response> {
  const stored: StoredKey = { accountId, keyHash: hash("key", key) };
  const begun = await beginIdempotent(stored, hash("content", canonical(content)), LEASE_SECONDS);
  switch (begun.outcome) {
    case "mismatch":
      return appError("idempotency_mismatch", "Idempotency-Key was used with a different request");
    case "running":
      return appError("conflict", "A request with this Idempotency-Key is still running", {
        headers: { "retry-after": "1" },
      });
    case "done":
      return restore(openText(begun.response, contextOf(stored)));
    case "begun":
      break;
  }

  const { effect_id: effectId, attempt } = begun;
  const extend = setInterval(() => {
    extendIdempotent(stored, attempt, LEASE_SECONDS).catch((err: unknown) =>
      log.warn({ err }, "the idempotency key's lease could not be extended"),
    );
  }, EXTEND_MS);
  let kept: string | null = null;
  try {
    const result = await answer(effectId);
    kept = await keep(result);
    return result;
  } finally {
    clearInterval(extend);
    // What was done is done: when this fails, the next attempt finds it by the effect id.
    await endIdempotent(stored, attempt, kept && sealText(kept, contextOf(stored))).catch(
      (err: unknown) => log.warn({ err }, "the idempotency key's answer could not be stored"),
    );
  }
}

/** Keyed and set apart by purpose, so that neither a key nor a request can be guessed from it. */
function hash(purpose: "key" | "content", text: string): string {
  return createHmac("sha256", config().API_KEY_SECRET)
    .update(`idempotency ${purpose}\n${text}`)
    .digest("hex");
}

/** JSON in which the order of an object's keys makes no difference. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}

const contextOf = ({ accountId, keyHash }: StoredKey): string => `${accountId} ${keyHash}`;

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

/** Null for an answer that does not stand. */
async function keep(answer: AppError | Response): Promise<string | null> {
  const status = isAppError(answer) ? statusOf[answer.code] : answer.status;
  if (status >= 500 || status === 409 || status === 429) return null;
  // As a limit: after a deletion the same request succeeds.
  if (isAppError(answer) && answer.code === "quota_exceeded") return null;
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
