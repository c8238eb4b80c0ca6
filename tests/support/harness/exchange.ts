/** Exchanges for tests of single stages of the pipeline with this service behind them, below the server and with its settings. */

import type { Exchange } from "@platform/endpoint/exchange";
import { service } from "../../../lib/http/endpoint.ts";
import type { Caller } from "../../../lib/identity/credentials/caller.ts";
import { TokenVerifier } from "../../../lib/identity/credentials/verify-bearer.ts";
import type { App } from "../../../lib/parts.ts";
import { config } from "../../../lib/platform/config.ts";
import { currentDatabase } from "../../../lib/platform/database/create-database.ts";
import { createQueues } from "../../../lib/platform/queues.ts";
import { RequestLog } from "../../../lib/requests/request-log.ts";
import { type Given, openEcho } from "../../../packages/endpoint/tests/exchange.ts";
import { stack } from "./stack.ts";

/** Returns the parts of a process that the stages use. */
export function appOf(queues: Partial<App["queues"]> = {}): App {
  Object.assign(process.env, stack.env);
  return {
    db: currentDatabase(),
    queues: { ...createQueues(config()), ...queues },
    identity: new TokenVerifier(),
    requestLog: new RequestLog(async () => {}),
  } as App;
}

export const exchangeOf = (given: Given<Caller, App> = {}): Exchange<Caller, App> =>
  openEcho(service, appOf(), given);
