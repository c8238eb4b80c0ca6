import { config } from "../platform/config.ts";
import { sweepRowBatch } from "./store.ts";

const BATCH = 1_000;
const MAX_BATCHES = 100;

/** Deletes rows that have expired, and returns their numbers by kind. */
export async function sweepRows(): Promise<Record<string, number>> {
  const { TASK_INPUT_RETENTION_DAYS, CONNECTION_RETENTION_DAYS } = config();
  const ages = { inputDays: TASK_INPUT_RETENTION_DAYS, connectionDays: CONNECTION_RETENTION_DAYS };
  const totals: Record<string, number> = {};
  for (let batch = 1; batch <= MAX_BATCHES; batch++) {
    const counts = await sweepRowBatch(BATCH, ages);
    for (const [kind, count] of Object.entries(counts)) totals[kind] = (totals[kind] ?? 0) + count;
    // A kind without a full batch has no rows left, or only rows that are locked at present.
    if (Object.values(counts).every((count) => count < BATCH)) break;
  }
  return totals;
}
