/** The queries that several parts of a turn make. */

import type { AppError } from "@platform/endpoint/contract/app-error";
import { type UntrustedSource, untrustedSource } from "@platform/endpoint/contract/approvals";
import { reservation } from "@platform/endpoint/contract/quota";
import { z } from "zod";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import type { UsageEntry } from "./measure-step.ts";
import type { TurnKey } from "./turn-key.ts";
/** Records untrusted content that the turn has read outside of its tools. Returns all of the turn. */
export function markUntrusted(
  db: Database,
  { accountId, turnId }: TurnKey,
  sources: readonly UntrustedSource[],
): Promise<UntrustedSource[]> {
  const args = { p_account_id: accountId, p_turn_id: turnId, p_sources: sources };
  return call(db, "mark_turn_untrusted", args, z.array(untrustedSource));
}

/** Records model calls, each once, which the end of no step records: calls of subagents. */
export async function recordUsage(
  db: Database,
  { accountId, turnId }: TurnKey,
  usage: readonly UsageEntry[],
): Promise<void> {
  const args = { p_account_id: accountId, p_turn_id: turnId, p_calls: usage };
  await call(db, "record_turn_usage", args);
}

/**
 * Reserves the cost of a model call outside of a turn, if the account has a budget. Errors: 402 when nothing is left of
 * the budget, or the account does not allow unpriced models; `lost` when the job has lost its lease.
 * @param id of the job, as in the table `model_jobs`
 * @param estimateUsd null when the price is not known
 */
export const reserveJobCall = (
  db: Database,
  { accountId, id }: { readonly accountId: string; readonly id: string },
  estimateUsd: number | null,
  lost: AppError,
): Promise<AppError | undefined> =>
  call(
    db,
    "reserve_call",
    {
      ...{ p_account_id: accountId, p_id: id, p_load: null, p_estimate_usd: estimateUsd },
      ...{ p_released_usd: null, p_spent_usd: 0, p_in_flight: 0 },
    },
    reservation(lost),
  );
