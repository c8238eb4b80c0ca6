/** The queries with which accounts list, watch and cancel their runs. */
import { z } from "zod";
import {
  type Page,
  type PageRequest,
  pageArguments,
  storedPage,
} from "../../contract/pagination.ts";
import { call } from "../../platform/database/query.ts";
import { type RunFilters, type RunTrace, runItem, runTrace } from "../run-contract.ts";

/** Returns a page of the account's runs, newest first. */
export function selectRuns(
  accountId: string,
  query: PageRequest & RunFilters,
): Promise<Page<z.output<typeof runItem>>> {
  const args = {
    p_account_id: accountId,
    ...pageArguments(query),
    p_status: query.status ?? null,
    p_kind: query.kind ?? null,
    p_chat_id: query.chat_id ?? null,
    p_artist_id: query.artist_id ?? null,
    p_since: query.since ?? null,
  };
  return call("list_runs", args, storedPage(runItem, "runs"));
}

/** Returns null when the account has no such run. */
export const selectRunTrace = (accountId: string, runId: string): Promise<RunTrace | null> =>
  call("get_run_trace", { p_account_id: accountId, p_run_id: runId }, runTrace.nullable());

const stopped = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("missing") }),
  z.object({
    // The status from before the request when the run ended in the same moment.
    outcome: z.enum(["active", "queued", "running", "completed", "failed", "cancelled"]),
    turn_id: z.string(),
  }),
]);

/** Records a stop request for the run, unless it has ended. */
export const requestRunStop = (accountId: string, runId: string) =>
  call("request_run_stop", { p_account_id: accountId, p_run_id: runId }, stopped);

/** Returns the given turns whose stop was requested, whose authority has ended, or that no longer exist. */
export const findStopped = (turnIds: readonly string[]): Promise<string[]> =>
  call("turns_to_stop", { p_ids: turnIds }, z.array(z.string()));

/** Returns the run that executes the turn; null before its first step has started. */
export const selectRunOfTurn = (turnId: string): Promise<string | null> =>
  call("run_of_turn", { p_turn_id: turnId }, z.string().nullable());
