/** One request on its way through the pipeline, with the findings of its stages, and the service behind them. */

import { log } from "@platform/kit/log";
import type { Logger } from "pino";
import type { AppError } from "./contract/app-error.ts";
import type { Contract } from "./contract/contract.ts";
import type { RateVerdict } from "./contract/rate-limit.ts";
import type { Attempt } from "./idempotency.ts";
import type { ParsedInput, ReadBody, Validator } from "./read-input.ts";
import { requestIdOf } from "./shared-headers.ts";

/** The part of a caller that the pipeline reads: two ids, which it compares and passes on. */
export interface Principal {
  /** The account that the request acts for. */
  readonly accountId: string;
  /** The account that the credential belongs to, whose idempotency keys and slots it uses. */
  readonly ownerId: string;
}

/**
 * The service whose endpoints the pipeline serves. It identifies and authorizes callers, shares slots among them, and
 * stores attempts and requests. Its members are methods, so the stages accept the exchange of any service.
 */
export interface Service<Caller extends Principal = Principal, App = unknown> {
  /** The stage that sets `caller`, `denied` and `rate` of the exchange. */
  identify(exchange: Exchange<Caller, App>): Promise<AppError | undefined>;
  /** The stage that refuses parsed input for which the caller lacks the rights. */
  authorize(exchange: Exchange<Caller, App>): Promise<AppError | undefined>;
  /**
   * Begins an attempt of the request with an `Idempotency-Key`.
   * @param content everything that the response depends on, as JSON
   */
  beginAttempt(app: App, caller: Caller, key: string, content: string): Promise<Attempt>;
  /** Calls the use case when the caller has a free slot. @throws QueueRefusal */
  runInSlot<T>(exchange: Exchange<Caller, App>, run: () => Promise<T>): Promise<T>;
  /** Notes the answer before the caller reads it. @param body undefined for streams and bytes */
  recordAnswerSources(exchange: Exchange<Caller, App>, body: unknown): Promise<void>;
  /** Returns the error that a throw stands for, such as an outage; null for a defect. */
  failureOf(error: unknown): AppError | null;
  /** Records a request that has been answered in `ms` milliseconds. */
  record(exchange: Exchange<Caller, App>, status: number, ms: number): void;
  /** Returns whether a response that differs from its contract is a defect, for development and tests. */
  checksResponses(): boolean;
}

/** The parts of an endpoint, prepared once and not for each request. */
export interface Plan {
  readonly contract: Contract;
  readonly validate: Validator;
  readonly handle: (
    exchange: Exchange,
    effect: Effect,
  ) => Promise<AppError | Response | PlainSuccess>;
}

/** The identity of a request's effect. */
export interface Effect {
  /** The id that all attempts share; null where the contract takes no key. */
  readonly id: string | null;
  /** The text of the header; null without one. */
  readonly idempotencyKey: string | null;
}

export interface PlainSuccess {
  readonly status?: PropertyKey;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Each stage reads the findings of earlier stages and adds its own. */
export interface Exchange<Caller extends Principal = Principal, App = unknown> {
  readonly service: Service<Caller, App>;
  /** The parts of the process, for the service and the use case. */
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
export function openExchange<Caller extends Principal, App>(
  service: Service<Caller, App>,
  app: App,
  plan: Plan,
  request: Request,
): Exchange<Caller, App> {
  const requestId = requestIdOf(request.headers);
  const { searchParams } = new URL(request.url);
  return {
    service,
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
