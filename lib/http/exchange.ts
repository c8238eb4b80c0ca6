/** One request on its way through the pipeline, with the findings of its stages. */

import type { AppError } from "@platform/endpoint/contract/app-error";
import type { Contract } from "@platform/endpoint/contract/contract";
import type { RateVerdict } from "@platform/endpoint/contract/rate-limit";
import type { ParsedInput, ReadBody, Validator } from "@platform/endpoint/read-input";
import { requestIdOf } from "@platform/endpoint/shared-headers";
import { log } from "@platform/kit/log";
import type { Logger } from "pino";
import type { Caller } from "../identity/credentials/caller.ts";
import type { App } from "../parts.ts";

/** The parts of an endpoint, prepared once and not for each request. */
export interface Plan {
  readonly contract: Contract;
  readonly validate: Validator;
  /** Whether the body names accounts and must be read before the caller is known. */
  readonly bodyNamesAccounts: boolean;
  readonly handle: (input: HandlerInput) => Promise<AppError | Response | PlainSuccess>;
}

/** A handler's input without the types of its contract, which `endpoint` adds. */
interface HandlerInput extends Omit<ParsedInput, "ignored"> {
  readonly app: App;
  readonly caller: Caller | null;
  readonly effectId: string | null;
  readonly idempotencyKey: string | null;
  readonly request: Request;
  readonly requestId: string;
  readonly log: Logger;
}

export interface PlainSuccess {
  readonly status?: PropertyKey;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Each stage reads the findings of earlier stages and adds its own. */
export interface Exchange {
  readonly app: App;
  readonly plan: Plan;
  readonly requestId: string;
  /** Carries the request id. */
  readonly log: Logger;
  readonly query: Readonly<Record<string, unknown>> | undefined;

  /** Replaced by `authorize` where it has to read a body of bytes. */
  request: Request;
  /** Of the path; undefined where the contract declares none. */
  params: Readonly<Record<string, unknown>> | undefined;
  /** From `identify`. Null for a caller without a credential. */
  caller: Caller | null;
  /** From `identify`: the refusal of an account that the request names, reported by `authorize`. */
  denied: AppError | null;
  /** From `identify`: the verdict of the rate limit; null where none applies. */
  rate: RateVerdict | null;
  /** From `identify` where the body names accounts, else from `readBody`. */
  body: ReadBody | AppError | undefined;
  /** From `parse`. */
  input: ParsedInput;
}

/** Starts the exchange of a request. */
export function openExchange(app: App, plan: Plan, request: Request): Exchange {
  const requestId = requestIdOf(request.headers);
  const { searchParams } = new URL(request.url);
  return {
    app,
    plan,
    request,
    requestId,
    log: log().child({ requestId }),
    params: undefined,
    query:
      plan.contract.query || searchParams.size > 0 ? Object.fromEntries(searchParams) : undefined,
    caller: null,
    denied: null,
    rate: null,
    body: undefined,
    input: { params: undefined, query: undefined, body: undefined, ignored: [] },
  };
}
