/** What the engine reads of the product's own rows, because the SDK has no place for it. */
import { z } from "zod";
import { call } from "../../platform/database/query.ts";

/** Returns those of the turns whose stop was requested, whose authority has ended, or that no longer exist. */
export const findStopped = (turnIds: readonly string[]): Promise<string[]> =>
  call("turns_to_stop", { p_ids: turnIds }, z.array(z.string()));

/** Returns the run that executes the turn; null before its first step has begun. */
export const findRun = (turnId: string): Promise<string | null> =>
  call("run_of_turn", { p_turn_id: turnId }, z.string().nullable());
