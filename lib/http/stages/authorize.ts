/**
 * Refuses what the caller may not do: 403, and 404 for an artist that it may not see. What the
 * credential of a run may do can depend on the request, so it is decided once that is parsed.
 */
import type { AppError } from "../../contract/app-error.ts";
import type { Exchange } from "../exchange.ts";
import { refuseRequest } from "../guard-run.ts";

export async function authorize(exchange: Exchange): Promise<AppError | undefined> {
  const { plan, caller, input, denied } = exchange;
  const misused = caller && refuseRequest(plan.contract, caller, input);
  return misused ?? denied ?? undefined;
}
