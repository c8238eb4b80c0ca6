/** What the engine reads of the product's own rows, because the SDK has no place for it. */
import { z } from "zod";
import { db } from "../../platform/database/client.ts";
import { call, parseAnswer } from "../../platform/database/query.ts";

/** Returns those of the turns whose stop was requested, whose authority has ended, or that no longer exist. */
export const findStopped = (turnIds: readonly string[]): Promise<string[]> =>
  call("turns_to_stop", { p_ids: turnIds }, z.array(z.string()));

/** Returns the run that executes the turn; null before its first step has begun. */
export async function findRun(turnId: string): Promise<string | null> {
  const rows = parseAnswer(
    "read the run of a turn",
    await db().from("turns").select("run_id").eq("id", turnId),
    z.array(z.object({ run_id: z.string().nullable() })),
  );
  return rows[0]?.run_id ?? null;
}
