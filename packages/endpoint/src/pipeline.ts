/**
 * The stages of every request, in their order. Each stage of the admission refuses the request or adds
 * its findings to the exchange; `respond`, `log` and `trace` handle every outcome, refusals included.
 */
import { randomUUID } from "node:crypto";
import { type AppError, isAppError } from "./contract/app-error.ts";
import type { AccessField, Contract } from "./contract/contract.ts";
import { otherSpelling } from "./contract/normalize-input.ts";
import { tooManyRequests } from "./contract/rate-limit.ts";
import type { Effect, Exchange, PlainSuccess } from "./exchange.ts";
import { answerOnce, canonicalJson, readIdempotencyKey } from "./idempotency.ts";
import { prefersStrictHandling } from "./prefer.ts";
import { decodeBody, type ReadBody, readBody as readJsonBody, readZipBody } from "./read-input.ts";
import { log, respond, trace } from "./respond.ts";

/** In bytes, unless the contract says otherwise. */
const DEFAULT_BODY_LIMIT = 1024 * 1024;

/** Ends the exchange with a refusal, or continues it. */
type Stage = (exchange: Exchange) => Promise<AppError | undefined> | AppError | undefined;

/** @param params of the path, where the contract declares any */
export function serve(
  exchange: Exchange,
  params?: Promise<NonNullable<Exchange["params"]>>,
): Promise<Response> {
  return trace(exchange, () =>
    log(exchange, () =>
      respond(exchange, async () => {
        if (params) exchange.params = await params;
        for (const stage of admission) {
          const refusal = await stage(exchange);
          if (isAppError(refusal)) return refusal;
        }
        return once(exchange, (effect) => handle(exchange, effect));
      }),
    ),
  );
}

/** Authenticates the caller and counts the request towards the rate limits. Refuses: 401, 403. */
const identify: Stage = (exchange) => exchange.service.identify(exchange);

/**
 * Resolves to the ids in the access-controlled fields of a request, null for each that it does not name. Reads
 * the body where those are in it.
 */
export async function namedAccounts(exchange: Exchange) {
  const { accountAccess, organizationAccess, artistAccess } = exchange.plan.contract;
  const accesses = [accountAccess, organizationAccess, artistAccess];
  if (accesses.some((access) => access?.in === "body")) exchange.body = await bodyOf(exchange);
  const named = (access: AccessField | undefined): string | null => {
    if (!access) return null;
    return uuidIn(access.in === "body" ? bodyValueOf(exchange) : exchange.query, access.field);
  };
  return {
    account: named(accountAccess),
    organization: named(organizationAccess),
    artist: named(artistAccess),
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns null for an absent or malformed id; `parse` reports the latter, and two that differ. */
function uuidIn(source: unknown, field: string): string | null {
  if (typeof source !== "object" || source === null) return null;
  const name = [otherSpelling(field), field].find((spelling) => Object.hasOwn(source, spelling));
  const value: unknown = name === undefined ? undefined : Reflect.get(source, name);
  const text = typeof value === "string" ? value.toLowerCase() : "";
  return UUID.test(text) ? text : null;
}

/** Refuses a request beyond a rate limit: 429 with `retry-after`. */
export const throttle = ({ rate }: Exchange): AppError | undefined =>
  rate !== null && rate.retry_after !== null ? tooManyRequests(rate) : undefined;

/** Reads the body where the contract has one. Refuses: 413 while it is read, 400 for bad JSON. */
export async function readBody(exchange: Exchange): Promise<AppError | undefined> {
  if (!exchange.plan.contract.body) return undefined;
  exchange.body ??= await bodyOf(exchange);
  return isAppError(exchange.body) ? exchange.body : undefined;
}

function bodyOf({ plan, request }: Exchange): Promise<ReadBody | AppError> {
  const { bodyLimit = DEFAULT_BODY_LIMIT, zipBody } = plan.contract;
  const isZip = zipBody && request.headers.get("content-type")?.startsWith("application/zip");
  return isZip ? readZipBody(request, bodyLimit / 4) : readJsonBody(request, bodyLimit);
}

/** Returns the parsed JSON of a body; undefined unless one has been read. */
export const bodyValueOf = ({ body }: Pick<Exchange, "body">): unknown =>
  body && !isAppError(body) ? body.value : undefined;

/** Refuses parameters, a query or a body that the contract's schemas do not allow: 400. */
export function parse(exchange: Exchange): AppError | undefined {
  const { plan, request, params, query } = exchange;
  const isStrict = prefersStrictHandling(request.headers);
  const input = plan.validate({ params, query, body: bodyValueOf(exchange) }, isStrict);
  if (isAppError(input)) return input;
  exchange.input = input;
  return undefined;
}

/** Refuses requests beyond the caller's rights: 403, 404. These can depend on the input, so this stage follows `parse`. */
const authorize: Stage = (exchange) => exchange.service.authorize(exchange);

/** Lets the body be read without its coding. Refuses: 415 for an unknown one. */
function decode(exchange: Exchange): AppError | undefined {
  const { contract } = exchange.plan;
  const { byteBodyLimit, bodyLimit = DEFAULT_BODY_LIMIT } = contract;
  if (!contract.body && byteBodyLimit === undefined) return undefined;
  const decoded = decodeBody(exchange.request, byteBodyLimit ?? bodyLimit);
  if (isAppError(decoded)) return decoded;
  exchange.request = decoded;
  return undefined;
}

const admission: readonly Stage[] = [decode, identify, throttle, readBody, parse, authorize];

/**
 * Gives all requests with the same `Idempotency-Key` one effect and one response.
 * Refuses: 400 for a malformed key, 409 while another attempt runs, 422 for another request.
 */
export async function once(
  exchange: Exchange,
  answer: (effect: Effect) => Promise<AppError | Response>,
): Promise<AppError | Response> {
  const { service, plan, request, caller, params, query, log } = exchange;
  const { contract } = plan;
  if (!contract.idempotent || !caller) return answer({ id: null, idempotencyKey: null });
  const key = readIdempotencyKey(request.headers);
  if (isAppError(key)) return key;
  if (key === null) return answer({ id: randomUUID(), idempotencyKey: null });
  const input = { params, query, body: bodyValueOf(exchange) };
  const content = canonicalJson([contract.method, contract.path, caller.accountId, input]);
  const attempt = await service.beginAttempt(exchange.app, caller, key, content);
  return answerOnce(attempt, log, (id) => answer({ id, idempotencyKey: key }));
}

/**
 * Calls the use case in a slot of the account that the credential belongs to, and makes a response of its
 * result. A stream holds its slot until its headers are made; its reader bounds it after them.
 * @throws QueueRefusal when too many requests of the account are waiting, or it waited too long
 */
export async function handle(exchange: Exchange, effect: Effect): Promise<AppError | Response> {
  const { service, plan } = exchange;
  const result = await service.runInSlot(exchange, () => plan.handle(exchange, effect));
  if (isAppError(result)) return result;
  const response = result instanceof Response ? result : responseOf(result);
  await service.recordAnswerSources(exchange, result instanceof Response ? undefined : result.body);
  // An error of a protocol that an endpoint carries is in the protocol's own shape.
  const isProtocolError = response.headers.has("x-error-code");
  if (service.checksResponses() && !isProtocolError) await checkResponse(plan.contract, response);
  return response;
}

function responseOf({ status, body, headers = {} }: PlainSuccess): Response {
  const init = { status: Number(status ?? 200), headers };
  return body === undefined ? new Response(null, init) : Response.json(body, init);
}

/** Checks a response against the contract. @throws Error when they differ */
async function checkResponse(contract: Contract, response: Response): Promise<void> {
  const declared = contract.responses[response.status];
  const where = `${contract.method} ${contract.path} ${response.status}`;
  if (!declared) throw new Error(`${where} is not in the contract`);
  if (!declared.schema) return;
  const result = declared.schema.safeParse(await response.clone().json());
  if (!result.success) throw new Error(`${where} differs from the contract: ${result.error}`);
}
