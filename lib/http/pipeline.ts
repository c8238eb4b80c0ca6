/**
 * The stages of every request, in their order. Each stage of the admission refuses the request or adds
 * its findings to the exchange; `respond`, `log` and `trace` handle every outcome, refusals included.
 */
import { randomUUID } from "node:crypto";
import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import type { AccessField, Contract } from "@platform/endpoint/contract/contract";
import { otherSpelling } from "@platform/endpoint/contract/normalize-input";
import { tooManyRequests } from "@platform/endpoint/contract/rate-limit";
import { prefersStrictHandling } from "@platform/endpoint/prefer";
import {
  decodeBody,
  type ReadBody,
  readBody as readJsonBody,
  readZipBody,
} from "@platform/endpoint/read-input";
import {
  limitAnonymous,
  readCredential,
  resolveCaller,
} from "../identity/credentials/resolve-caller.ts";
import { config } from "../platform/config.ts";
import { addressOf } from "./address.ts";
import type { Exchange, PlainSuccess } from "./exchange.ts";
import {
  noteWords,
  refuseCaller,
  refuseEffect,
  refuseRequest,
  refuseSandbox,
} from "./guard-run.ts";
import { answerOnce, readIdempotencyKey } from "./idempotency.ts";
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

/**
 * Authenticates the caller and counts the request towards the rate limits, in one round trip that also
 * checks access to the accounts that the request names.
 * Refuses: 401 for no credential, two, or an invalid one; 403 for the credential of a run where the
 * contract does not allow it.
 */
export async function identify(exchange: Exchange): Promise<AppError | undefined> {
  const { app, plan, request } = exchange;
  const { contract } = plan;
  const { headers } = request;
  const address = addressOf(headers);
  if (contract.auth === "none") {
    const refused = contract.runCredential === undefined ? await refuseSandbox(headers) : null;
    if (refused) return refused;
    if (contract.addressLimit) exchange.rate = await limitAnonymous(address);
    return undefined;
  }
  const mayBeAnonymous = contract.auth === "optional" && config().ANONYMOUS_LOOKUPS;
  const credential = await readCredential(app, headers, mayBeAnonymous);
  if (isAppError(credential)) return credential;
  if (!credential) {
    exchange.rate = await limitAnonymous(address);
    return undefined;
  }
  if (plan.bodyNamesAccounts) exchange.body = await bodyOf(exchange);
  const reads = contract.method === "GET";
  const resolved = await resolveCaller(credential, namedAccounts(exchange), address, reads);
  if (isAppError(resolved)) return resolved;
  if ("limited" in resolved) {
    exchange.rate = resolved.limited;
    return undefined;
  }
  Object.assign(exchange, resolved);
  return refuseCaller(contract, resolved.caller, headers) ?? undefined;
}

function namedAccounts({ plan, query, body }: Exchange) {
  const named = (field: AccessField | undefined): string | null =>
    field ? uuidIn(field.in === "body" ? bodyValueOf(body) : query, field.field) : null;
  return {
    account: named(plan.contract.accountAccess),
    organization: named(plan.contract.organizationAccess),
    artist: named(plan.contract.artistAccess),
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

const bodyValueOf = (body: Exchange["body"]): unknown =>
  body && !isAppError(body) ? body.value : undefined;

/** Refuses parameters, a query or a body that the contract's schemas do not allow: 400. */
export function parse(exchange: Exchange): AppError | undefined {
  const { plan, request, params, query, body } = exchange;
  const isStrict = prefersStrictHandling(request.headers);
  const input = plan.validate({ params, query, body: bodyValueOf(body) }, isStrict);
  if (isAppError(input)) return input;
  exchange.input = input;
  return undefined;
}

/**
 * Refuses accounts that the caller has no access to: 403, and 404 for an artist that it cannot see. A
 * contract can limit the credential of a run to certain requests, so this stage follows `parse`.
 */
export async function authorize(exchange: Exchange): Promise<AppError | undefined> {
  const { plan, caller, input, denied } = exchange;
  const misused = caller && refuseRequest(plan.contract, caller, input);
  return misused ?? denied ?? (await refuseEffect(exchange)) ?? undefined;
}

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

/** The identity of a request's effect. */
export interface Effect {
  /** The id that all attempts share; null where the contract takes no key. */
  readonly id: string | null;
  /** The text of the header; null without one. */
  readonly idempotencyKey: string | null;
}

/**
 * Gives all requests with the same `Idempotency-Key` one effect and one response.
 * Refuses: 400 for a malformed key, 409 while another attempt runs, 422 for another request.
 */
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
  const input = { params, query, body: bodyValueOf(body) };
  const content = [contract.method, contract.path, accountId, input];
  return answerOnce({ accountId: ownerId, key, content, log }, (id) =>
    answer({ id, idempotencyKey: key }),
  );
}

/**
 * Calls the use case in a slot of the account that the credential belongs to, and makes a response of its
 * result. A stream holds its slot until its headers are made; `lib/turns` bounds it after them.
 * @throws QueueRefusal when too many requests of the account are waiting, or it waited too long
 */
export async function handle(
  { app, plan, input, caller, request, requestId, log }: Exchange,
  { id: effectId, idempotencyKey }: Effect,
): Promise<AppError | Response> {
  const context = { app, caller, effectId, idempotencyKey, request, requestId, log };
  const run = () => plan.handle({ ...input, ...context });
  const result = caller
    ? await app.queues.requests.run(caller.ownerId, request.signal, run)
    : await run();
  if (isAppError(result)) return result;
  const response = result instanceof Response ? result : responseOf(result);
  if (caller) {
    const body = result instanceof Response ? undefined : result.body;
    await noteWords(plan.contract, caller, {
      params: fieldsOf(input.params),
      query: fieldsOf(input.query),
      body,
    });
  }
  // An error of a protocol that an endpoint carries is in the protocol's own shape.
  const isProtocolError = response.headers.has("x-error-code");
  if (config().CHECK_RESPONSES && !isProtocolError) await checkResponse(plan.contract, response);
  return response;
}

const fieldsOf = (input: unknown): Readonly<Record<string, unknown>> => Object(input);

function responseOf({ status, body, headers = {} }: PlainSuccess): Response {
  const init = { status: Number(status ?? 200), headers };
  return body === undefined ? new Response(null, init) : Response.json(body, init);
}

/** Checks a response against the contract, with CHECK_RESPONSES. @throws Error when they differ */
async function checkResponse(contract: Contract, response: Response): Promise<void> {
  const declared = contract.responses[response.status];
  const where = `${contract.method} ${contract.path} ${response.status}`;
  if (!declared) throw new Error(`${where} is not in the contract`);
  if (!declared.schema) return;
  const result = declared.schema.safeParse(await response.clone().json());
  if (!result.success) throw new Error(`${where} differs from the contract: ${result.error}`);
}
