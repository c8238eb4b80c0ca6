/** Refuses parameters, a query or a body that the contract's schemas do not allow: 400. */
import { type AppError, isAppError } from "../../contract/app-error.ts";
import type { Exchange } from "../exchange.ts";

export async function parse(exchange: Exchange): Promise<AppError | undefined> {
  const { plan, params, query, body } = exchange;
  const value = body && !isAppError(body) ? body.value : undefined;
  const input = plan.validate({ params, query, body: value });
  if (isAppError(input)) return input;
  exchange.input = input;
  return undefined;
}
