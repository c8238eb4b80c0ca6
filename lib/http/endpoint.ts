/**
 * Joins a contract to its use case. The wrapper does what every endpoint shares, in the order of
 * decisions, section 1: request id, limits, authentication, body size, JSON, schema, access; then
 * the handler; then the error family, the headers, the check of the response and one log line.
 */
import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { z } from "zod";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import type { AccessField, Contract } from "../contract/contract.ts";
import { type RateVerdict, tooManyRequests } from "../contract/rate-limit.ts";
import type { Caller } from "../identity/credentials/caller.ts";
import { limitAnonymous } from "../identity/credentials/limit-anonymous.ts";
import { readCredential } from "../identity/credentials/read-credential.ts";
import { resolveCaller } from "../identity/credentials/resolve-caller.ts";
import { IdentityProviderUnavailable } from "../identity/credentials/verify-bearer.ts";
import { config } from "../platform/config.ts";
import type { AccountRead } from "../platform/database/query.ts";
import { isDatabaseUnavailable } from "../platform/database/unavailable.ts";
import { isQueueRefusal } from "../platform/fair-queue.ts";
import { log } from "../platform/log.ts";
import { queueRefused } from "../platform/queue-refused.ts";
import { errorResponse } from "./error-response.ts";
import { refuseCaller, refuseRequest, refuseSandbox } from "./guard-run.ts";
import { answerOnce, readIdempotencyKey } from "./idempotency.ts";
import { type RawInput, validator } from "./parse-input.ts";
import { addRateHeaders, addressOf } from "./rate-limit.ts";
import { readBody } from "./read-body.ts";
import { shareRequests } from "./share-requests.ts";
import { requestIdOf, withSharedHeaders } from "./shared-headers.ts";

/** Bytes of a body, unless the contract says otherwise. */
const BODY_LIMIT = 1024 * 1024;

type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

export interface Input<C extends Contract> {
  readonly caller: C["auth"] extends "required"
    ? Caller
    : C["auth"] extends "optional"
      ? Caller | null
      : null;
  readonly params: Output<C["params"]>;
  readonly query: Output<C["query"]>;
  readonly body: Output<C["body"]>;
  /** A UUID that all attempts of an `idempotent` request have in common: see the contract. */
  readonly effectId: C["idempotent"] extends true ? string : null;
  /** The text of `Idempotency-Key`; null without one, and where the contract takes none. */
  readonly idempotencyKey: string | null;
  /** What `reads` asked for; undefined when it was not read. */
  readonly read: unknown;
  /** For headers and `signal`; the body has been read already where the contract has one. */
  readonly request: Request;
  readonly requestId: string;
  /** Carries the request id. */
  readonly log: Logger;
}

interface ResponseHeaders {
  readonly headers?: Readonly<Record<string, string>>;
}
/** Literals in a handler's answer are inferred as constants, so its arrays are readonly. */
type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;
type StatusField<S> = S extends 200 ? { readonly status?: S } : { readonly status: S };
type BodyField<R> = R extends { readonly schema: infer S extends z.ZodType }
  ? { readonly body: DeepReadonly<z.input<S>> }
  : { readonly body?: undefined };

/** What a success of the contract looks like; `status` may be left out when it is 200. */
export type Success<C extends Contract> = SuccessOf<C["responses"]>;
type SuccessOf<R> = {
  [S in keyof R]: StatusField<S> & BodyField<R[S]> & ResponseHeaders;
}[keyof R];

export type RouteContext = { params: Promise<Record<string, string | string[] | undefined>> };
export type RouteHandler = (request: Request, context: RouteContext) => Promise<Response>;

/**
 * @param reads what the handler will read for the caller's own account, or null: it comes with the
 *   authentication, in one round trip, as `input.read`. For endpoints without a body.
 */
export function route<const C extends Contract, const R extends AppError | Response | Success<C>>(
  contract: C,
  handler: (input: Input<C>) => Promise<R>,
  reads: (input: Pick<Input<C>, "params" | "query">) => AccountRead | null = () => null,
): RouteHandler {
  const run = pipeline(contract, handler, reads);
  return async (request, context) => {
    const started = performance.now();
    const requestId = requestIdOf(request.headers);
    const trace: Trace = { log: log().child({ requestId }), accountId: undefined, rate: null };
    let response: Response;
    let cause: unknown;
    try {
      const result = await run(request, context, requestId, trace);
      if (isAppError(result)) cause = result.message;
      response = isAppError(result) ? errorResponse(result, contract.family) : result;
    } catch (error) {
      cause = error;
      response = errorResponse(
        request.signal.aborted ? clientGone : failureOf(error),
        contract.family,
      );
    }
    const finished = withSharedHeaders(response, requestId, contract.auth !== "none");
    if (trace.rate) addRateHeaders(finished.headers, trace.rate);
    logRequest(trace, contract, finished.status, performance.now() - started, cause);
    return finished;
  };
}

interface Trace {
  readonly log: Logger;
  accountId: string | undefined;
  rate: RateVerdict | null;
}

const clientGone = appError("invalid_request", "The client closed the request");

function failureOf(error: unknown): AppError {
  if (isQueueRefusal(error)) return queueRefused(error);
  if (isDatabaseUnavailable(error) || error instanceof IdentityProviderUnavailable) {
    return appError("unavailable", "Service temporarily unavailable", {
      headers: { "retry-after": "1" },
    });
  }
  return appError("internal", "Internal server error");
}

/** Everything that a contract decides is decided here, once, and not for each request. */
function pipeline<C extends Contract>(
  contract: C,
  handler: (input: Input<C>) => Promise<AppError | Response | Success<C>>,
  reads: (input: Pick<Input<C>, "params" | "query">) => AccountRead | null,
): (
  request: Request,
  context: RouteContext,
  requestId: string,
  trace: Trace,
) => Promise<AppError | Response> {
  const validate = validator(contract);
  const limit = contract.bodyLimit ?? BODY_LIMIT;
  const accessFields = [contract.accountAccess, contract.organizationAccess, contract.artistAccess];
  const bodyNamesAccounts = accessFields.some((field) => field?.in === "body");
  const needsUrl = contract.query !== undefined;

  return async (request, context, requestId, trace) => {
    const credential =
      contract.auth === "none"
        ? null
        : await readCredential(
            request.headers,
            contract.auth === "optional" && config().ANONYMOUS_LOOKUPS,
          );
    if (isAppError(credential)) return credential;
    if (contract.auth === "none" && contract.runCredential === undefined) {
      const refused = await refuseSandbox(request.headers);
      if (refused) return refused;
    }

    const query = needsUrl ? Object.fromEntries(new URL(request.url).searchParams) : undefined;
    // Read early where it names accounts, so that one round trip authenticates and checks access;
    // what is wrong with it is still told only after authentication.
    let body = bodyNamesAccounts ? await readBody(request, limit) : undefined;

    // What is wrong with these, too, is told only after authentication.
    const params = contract.params ? await context.params : undefined;
    const early = contract.body ? undefined : validate({ params, query, body: undefined });

    let caller: Caller | null = null;
    let denied: AppError | null = null;
    let read: unknown;
    if (credential) {
      const bodyValue = body && !isAppError(body) ? body.value : undefined;
      const nameOf = (field: AccessField | undefined) =>
        field ? uuidIn(field.in === "body" ? bodyValue : query, field.field) : null;
      const named = {
        account: nameOf(contract.accountAccess),
        organization: nameOf(contract.organizationAccess),
        artist: nameOf(contract.artistAccess),
      };
      const asked = early && !isAppError(early) ? reads(early as Input<C>) : null;
      const address = addressOf(request.headers);
      const resolved = await resolveCaller(credential, named, address, asked);
      if (isAppError(resolved)) return resolved;
      if ("limited" in resolved) {
        trace.rate = resolved.limited;
        return tooManyRequests(resolved.limited);
      }
      ({ caller, denied, read, rate: trace.rate } = resolved);
      trace.accountId = caller.accountId;
      const refused = refuseCaller(contract, caller, request.headers);
      if (refused) return refused;
    } else if (contract.auth === "optional") {
      trace.rate = await limitAnonymous(addressOf(request.headers));
      if (trace.rate?.retry_after != null) return tooManyRequests(trace.rate);
    }

    if (contract.body && !body) body = await readBody(request, limit);
    if (isAppError(body)) return body;

    const raw: RawInput = { params, query, body: body?.value };
    const parsed = early ?? validate(raw);
    if (isAppError(parsed)) return parsed;
    const misused = caller && refuseRequest(contract, caller, parsed);
    if (misused) return misused;
    if (denied) return denied;

    const answer = async (
      effectId: string | null,
      idempotencyKey: string | null,
    ): Promise<AppError | Response> => {
      // The compiler cannot follow that the contract's schemas and its `auth` made these values.
      const made = {
        ...{ ...parsed, caller, effectId, idempotencyKey, read },
        ...{ request, requestId, log: trace.log },
      };
      const input = made as Input<C>;
      const result = caller
        ? await shareRequests(caller.ownerId, request.signal, () => handler(input))
        : await handler(input);
      if (isAppError(result)) return result;
      const response = result instanceof Response ? result : respond(result);
      if (config().CHECK_RESPONSES) await checkResponse(contract, response);
      return response;
    };
    if (!contract.idempotent || !caller) return answer(null, null);
    const key = readIdempotencyKey(request.headers);
    if (isAppError(key)) return key;
    if (key === null) return answer(randomUUID(), null);
    const { accountId, ownerId } = caller;
    const content = [contract.method, contract.path, accountId, raw];
    return answerOnce({ accountId: ownerId, key, content, log: trace.log }, (effectId) =>
      answer(effectId, key),
    );
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Null for what is absent or malformed: the schema will say so. */
function uuidIn(source: unknown, field: string): string | null {
  if (typeof source !== "object" || source === null || !Object.hasOwn(source, field)) return null;
  const value: unknown = Reflect.get(source, field);
  const text = typeof value === "string" ? value.toLowerCase() : "";
  return UUID.test(text) ? text : null;
}

interface AnySuccess {
  readonly status?: PropertyKey;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

function respond({ status, body, headers = {} }: AnySuccess): Response {
  const init = { status: Number(status ?? 200), headers };
  return body === undefined ? new Response(null, init) : Response.json(body, init);
}

/** In development and tests: what is sent is what the contract says. @throws Error when not */
async function checkResponse(contract: Contract, response: Response): Promise<void> {
  const declared = contract.responses[response.status];
  const where = `${contract.method} ${contract.path} ${response.status}`;
  if (!declared) throw new Error(`${where} is not in the contract`);
  if (!declared.schema) return;
  const result = declared.schema.safeParse(await response.clone().json());
  if (!result.success) throw new Error(`${where} is not as the contract says: ${result.error}`);
}

function logRequest(
  trace: Trace,
  contract: Contract,
  status: number,
  ms: number,
  cause: unknown,
): void {
  const line = {
    method: contract.method,
    route: contract.path,
    status,
    ms: Math.round(ms * 100) / 100,
    accountId: trace.accountId,
    ...(cause instanceof Error ? { err: cause } : { error: cause }),
  };
  if (status >= 500) trace.log.error(line, "request");
  else trace.log.info(line, "request");
}
