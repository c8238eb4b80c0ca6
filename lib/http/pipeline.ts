/**
 * The stages of every request, in their order. Each stage of the admission refuses the request or adds
 * its findings to the exchange; `respond`, `log` and `trace` handle every outcome, refusals included.
 */
import { isAppError } from "../contract/app-error.ts";
import type { Exchange, Stage } from "./exchange.ts";
import { authorize } from "./stages/authorize.ts";
import { handle } from "./stages/handle.ts";
import { identify } from "./stages/identify.ts";
import { log } from "./stages/log.ts";
import { once } from "./stages/once.ts";
import { parse } from "./stages/parse.ts";
import { readBody } from "./stages/read-body.ts";
import { respond } from "./stages/respond.ts";
import { throttle } from "./stages/throttle.ts";
import { trace } from "./stages/trace.ts";

const admission: readonly Stage[] = [identify, throttle, readBody, parse, authorize];

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
