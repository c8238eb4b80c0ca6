/**
 * Gives all requests with the same `Idempotency-Key` one effect and one response.
 * Refuses: 400 for a malformed key, 409 while another attempt runs, 422 for another request.
 */
import { randomUUID } from "node:crypto";
import { type AppError, isAppError } from "../../contract/app-error.ts";
import type { Exchange } from "../exchange.ts";
import { answerOnce, readIdempotencyKey } from "../idempotency.ts";

export interface Effect {
  /** The id that all attempts share; null where the contract takes no key. */
  readonly id: string | null;
  /** The text of the header; null without one. */
  readonly idempotencyKey: string | null;
}

export async function once(
  { plan, request, caller, params, query, body, log }: Exchange,
  answer: (effect: Effect) => Promise<AppError | Response>,
): Promise<AppError | Response> {
  const { contract } = plan;
  if (!contract.idempotent || !caller) return answer({ id: null, idempotencyKey: null });
  const key = readIdempotencyKey(request.headers);
  if (isAppError(key)) return key;
  if (key === null) return answer({ id: randomUUID(), idempotencyKey: null });
  const { accountId, ownerId } = caller;
  const value = body && !isAppError(body) ? body.value : undefined;
  const content = [contract.method, contract.path, accountId, { params, query, body: value }];
  return answerOnce({ accountId: ownerId, key, content, log }, (id) =>
    answer({ id, idempotencyKey: key }),
  );
}
