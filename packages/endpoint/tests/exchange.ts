/** Exchanges for tests of single stages, and a service that keeps everything in memory. */

import { z } from "zod";
import { type AppError, appError } from "../src/contract/app-error.ts";
import { type Contract, contract } from "../src/contract/contract.ts";
import {
  type Exchange,
  openExchange,
  type Plan,
  type Principal,
  type Service,
} from "../src/exchange.ts";
import type { Attempt } from "../src/idempotency.ts";
import { namedAccounts } from "../src/pipeline.ts";
import { validator } from "../src/read-input.ts";

const echo: Contract = {
  method: "POST",
  path: "/api/echo",
  summary: "Echo",
  tag: "Test",
  family: "error",
  auth: "required",
  responses: { 200: { description: "Echo", schema: z.object({ ok: z.literal(true) }) } },
  errors: [],
};

/** The differences from a request that every stage admits. */
export interface Given<Caller extends Principal = Principal, App = unknown> {
  readonly contract?: Partial<Contract>;
  readonly handle?: Plan["handle"];
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyInit;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
  readonly found?: Partial<Exchange<Caller, App>>;
}

export function openEcho<Caller extends Principal, App>(
  service: Service<Caller, App>,
  app: App,
  given: Given<Caller, App>,
): Exchange<Caller, App> {
  const declared = contract({ ...echo, ...given.contract } as Contract);
  const handle = given.handle ?? (async () => ({ body: { ok: true } }));
  const plan = { contract: declared, validate: validator(declared), handle };
  const request = new Request(given.url ?? "http://localhost/api/echo", {
    method: "POST",
    headers: { ...given.headers },
    ...(given.body === undefined ? {} : { body: given.body, duplex: "half" }),
    ...(given.signal && { signal: given.signal }),
  });
  return { ...openExchange(service, app, plan, request), params: given.params, ...given.found };
}

export const exchangeOf = (given: Given = {}): Exchange =>
  openEcho(new MemoryService(), null, given);

/** A service of accounts whose key is their id. Each has access to itself alone. */
export class MemoryService implements Service {
  readonly requests: unknown[] = [];
  readonly answers: unknown[] = [];
  readonly #attempts = new Map<string, KeptAttempt>();

  async identify(exchange: Exchange): Promise<AppError | undefined> {
    const { auth } = exchange.plan.contract;
    const key = exchange.request.headers.get("x-api-key");
    if (key === null) return auth === "required" ? unauthorized : undefined;
    exchange.caller = { accountId: key, ownerId: key };
    const { account } = await namedAccounts(exchange);
    if (account !== null && account !== key) exchange.denied = denied;
    exchange.rate = { by: "account", limit: 60, remaining: 59, reset: 1, retry_after: null };
    return undefined;
  }

  async authorize({ denied }: Exchange): Promise<AppError | undefined> {
    return denied ?? undefined;
  }

  async beginAttempt(
    _app: unknown,
    { ownerId }: Principal,
    key: string,
    content: string,
  ): Promise<Attempt> {
    const id = `${ownerId} ${key}`;
    const kept = this.#attempts.get(id) ?? {
      effectId: id,
      content,
      isRunning: false,
      answer: null,
    };
    this.#attempts.set(id, kept);
    if (kept.content !== content) return { outcome: "mismatch" };
    if (kept.isRunning) return { outcome: "running" };
    if (kept.answer !== null) return { outcome: "done", answer: kept.answer };
    kept.isRunning = true;
    return {
      outcome: "begun",
      effectId: kept.effectId,
      extend: async () => {},
      end: async (answer) => void Object.assign(kept, { answer, isRunning: false }),
    };
  }

  runInSlot<T>(_: Exchange, run: () => Promise<T>): Promise<T> {
    return run();
  }

  async recordAnswerSources(_: Exchange, body: unknown): Promise<void> {
    this.answers.push(body);
  }

  failureOf(error: unknown): AppError | null {
    return error instanceof Outage ? appError("unavailable", "Service unavailable") : null;
  }

  record({ caller, plan }: Exchange, status: number, ms: number): void {
    this.requests.push({ account: caller?.accountId, route: plan.contract.path, status, ms });
  }

  checksResponses(): boolean {
    return true;
  }
}

interface KeptAttempt {
  readonly effectId: string;
  readonly content: string;
  isRunning: boolean;
  answer: string | null;
}

const unauthorized = appError("unauthorized", "Unauthorized");
const denied = appError("access_denied", "Access denied to specified account_id");

/** A failure that the service knows. */
export class Outage extends Error {}
