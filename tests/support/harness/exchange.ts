/** Exchanges for tests of single stages of the pipeline, below the server and with its settings. */

import { type Contract, contract } from "@platform/endpoint/contract/contract";
import { validator } from "@platform/endpoint/read-input";
import { z } from "zod";
import { type Exchange, openExchange, type Plan } from "../../../lib/http/exchange.ts";
import { TokenVerifier } from "../../../lib/identity/credentials/verify-bearer.ts";
import type { App } from "../../../lib/parts.ts";
import { config } from "../../../lib/platform/config.ts";
import { createQueues } from "../../../lib/platform/queues.ts";
import { RequestLog } from "../../../lib/requests/request-log.ts";
import { stack } from "./stack.ts";

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

/** What a test gives; the rest is a request that every stage admits. */
interface Given {
  readonly contract?: Partial<Contract>;
  readonly handle?: Plan["handle"];
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyInit;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
  readonly found?: Partial<Exchange>;
}

/** Returns the parts of a process that the stages use. */
export function appOf(queues: Partial<App["queues"]> = {}): App {
  Object.assign(process.env, stack.env);
  return {
    queues: { ...createQueues(config()), ...queues },
    identity: new TokenVerifier(),
    requestLog: new RequestLog(async () => {}),
  } as App;
}

export function exchangeOf(given: Given = {}): Exchange {
  const declared = contract({ ...echo, ...given.contract } as Contract);
  const access = [declared.accountAccess, declared.organizationAccess, declared.artistAccess];
  const plan: Plan = {
    contract: declared,
    validate: validator(declared),
    bodyNamesAccounts: access.some((field) => field?.in === "body"),
    handle: given.handle ?? (async () => ({ body: { ok: true } })),
  };
  const request = new Request(given.url ?? "http://localhost/api/echo", {
    method: "POST",
    headers: { ...given.headers },
    ...(given.body === undefined ? {} : { body: given.body, duplex: "half" }),
    ...(given.signal && { signal: given.signal }),
  });
  return { ...openExchange(appOf(), plan, request), params: given.params, ...given.found };
}
