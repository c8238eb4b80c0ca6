/** Writes one line for each request: never a body, a header or a credential. */
import type { Exchange } from "../exchange.ts";
import type { Answer } from "./respond.ts";

export async function log(exchange: Exchange, answer: () => Promise<Answer>): Promise<Response> {
  const started = performance.now();
  const { response, cause } = await answer();
  const { contract } = exchange.plan;
  const line = {
    method: contract.method,
    route: contract.path,
    status: response.status,
    ms: Math.round((performance.now() - started) * 100) / 100,
    accountId: exchange.caller?.accountId,
    ...(cause instanceof Error ? { err: cause } : { error: cause }),
  };
  if (response.status >= 500) exchange.log.error(line, "request");
  else exchange.log.info(line, "request");
  return response;
}
