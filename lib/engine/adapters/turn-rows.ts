/** What the engine reads of the product's own rows, because the SDK has no place for it. */
import { z } from "zod";
import { db } from "../../platform/database/client.ts";
import { parseAnswer } from "../../platform/database/query.ts";

const stopRow = z.object({ id: z.string(), stop_requested_at: z.string().nullable() });

/** The ids of a query are in its URL. */
const MAX_IDS = 100;

/** Returns those of the turns whose stop was requested, or that no longer exist. */
export async function findStopped(turnIds: readonly string[]): Promise<string[]> {
  const stopped: string[] = [];
  for (let first = 0; first < turnIds.length; first += MAX_IDS) {
    const asked = turnIds.slice(first, first + MAX_IDS);
    const rows = parseAnswer(
      "read stop requests",
      await db().from("turns").select("id, stop_requested_at").in("id", asked),
      z.array(stopRow),
    );
    const going = new Set(rows.flatMap((row) => (row.stop_requested_at === null ? [row.id] : [])));
    stopped.push(...asked.filter((id) => !going.has(id)));
  }
  return stopped;
}

/** Returns the run that executes the turn; null before its first step has begun. */
export async function findRun(turnId: string): Promise<string | null> {
  const rows = parseAnswer(
    "read the run of a turn",
    await db().from("turns").select("run_id").eq("id", turnId),
    z.array(z.object({ run_id: z.string().nullable() })),
  );
  return rows[0]?.run_id ?? null;
}
