import { z } from "zod";
import { db } from "../../../platform/database/client.ts";
import { parseAnswer } from "../../../platform/database/query.ts";

/** Returns whether a stop was requested, or the turn no longer exists. */
export async function isStopRequested(turnId: string): Promise<boolean> {
  const rows = parseAnswer(
    "read stop flag",
    await db().from("turns").select("stop_requested_at").eq("id", turnId),
    z.array(z.object({ stop_requested_at: z.string().nullable() })),
  );
  return rows[0] === undefined || rows[0].stop_requested_at !== null;
}
