/** Reads the body where the contract has one. Refuses: 413 while it is read, 400 for bad JSON. */
import { type AppError, isAppError } from "../../contract/app-error.ts";
import type { Exchange } from "../exchange.ts";
import { type ReadBody, readBody as readJsonBody } from "../read-body.ts";

/** In bytes, unless the contract says otherwise. */
const DEFAULT_BODY_LIMIT = 1024 * 1024;

export async function readBody(exchange: Exchange): Promise<AppError | undefined> {
  if (!exchange.plan.contract.body) return undefined;
  exchange.body ??= await bodyOf(exchange);
  return isAppError(exchange.body) ? exchange.body : undefined;
}

export function bodyOf({ plan, request }: Exchange): Promise<ReadBody | AppError> {
  return readJsonBody(request, plan.contract.bodyLimit ?? DEFAULT_BODY_LIMIT);
}
