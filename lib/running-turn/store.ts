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
  return call(db, "mark_turn_untrusted", { accountId, turnId, sources }, z.array(untrustedSource));
}

/** Records model calls, each once, which the end of no step records: calls of subagents. */
export async function recordUsage(
  db: Database,
  { accountId, turnId }: TurnKey,
  usage: readonly UsageEntry[],
): Promise<void> {
  await call(db, "record_turn_usage", { accountId, turnId, calls: usage });
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
      ...{ accountId, id, load: null, estimateUsd },
      ...{ releasedUsd: null, spentUsd: 0, inFlight: 0 },
    },
    reservation(lost),
  );
