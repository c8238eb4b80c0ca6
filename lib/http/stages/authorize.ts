/**
 * Refuses accounts that the caller has no access to: 403, and 404 for an artist that it cannot see. A
 * contract can limit the credential of a run to certain requests, so this stage follows `parse`.
 */
import type { AppError } from "../../contract/app-error.ts";
import type { Exchange } from "../exchange.ts";
import { refuseRequest } from "../guard-run.ts";

export async function authorize(exchange: Exchange): Promise<AppError | undefined> {
  const { plan, caller, input, denied } = exchange;
  const misused = caller && refuseRequest(plan.contract, caller, input);
  return misused ?? denied ?? undefined;
}
