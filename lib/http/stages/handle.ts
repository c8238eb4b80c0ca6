/**
 * Calls the use case in a slot of the caller's account, and makes a response of its result.
 * @throws QueueRefusal when the account gets no slot
 */
import { type AppError, isAppError } from "../../contract/app-error.ts";
import type { Contract } from "../../contract/contract.ts";
import { config } from "../../platform/config.ts";
import type { Exchange, PlainSuccess } from "../exchange.ts";
import { shareRequests } from "../share-requests.ts";
import type { Effect } from "./once.ts";

export async function handle(
  { plan, input, caller, request, requestId, log }: Exchange,
  { id: effectId, idempotencyKey }: Effect,
): Promise<AppError | Response> {
  const context = { caller, effectId, idempotencyKey, request, requestId, log };
  const run = () => plan.handle({ ...input, ...context });
  const result = caller ? await shareRequests(caller.ownerId, request.signal, run) : await run();
  if (isAppError(result)) return result;
  const response = result instanceof Response ? result : responseOf(result);
  if (config().CHECK_RESPONSES && !isProtocolError(response))
    await checkResponse(plan.contract, response);
  return response;
}

function responseOf({ status, body, headers = {} }: PlainSuccess): Response {
  const init = { status: Number(status ?? 200), headers };
  return body === undefined ? new Response(null, init) : Response.json(body, init);
}

/** An error of a protocol that an endpoint carries, in the protocol's own shape. */
const isProtocolError = ({ headers }: Response): boolean => headers.has("x-error-code");

/** Checks a response against the contract, with CHECK_RESPONSES. @throws Error when they differ */
async function checkResponse(contract: Contract, response: Response): Promise<void> {
  const declared = contract.responses[response.status];
  const where = `${contract.method} ${contract.path} ${response.status}`;
  if (!declared) throw new Error(`${where} is not in the contract`);
  if (!declared.schema) return;
  const result = declared.schema.safeParse(await response.clone().json());
  if (!result.success) throw new Error(`${where} differs from the contract: ${result.error}`);
}
