import { sweepRowBatch } from "./store.ts";

const BATCH = 1_000;
const MAX_BATCHES = 100;
/** The input of a task run after its end, and a connection that was refused or is undecided. */
const AGES = { inputDays: 30, connectionDays: 30 };

/** Deletes rows that have expired, and returns their numbers by kind. */
export async function sweepRows(): Promise<Record<string, number>> {
  const totals: Record<string, number> = {};
  for (let batch = 1; batch <= MAX_BATCHES; batch++) {
    const counts = await sweepRowBatch(BATCH, AGES);
    for (const [kind, count] of Object.entries(counts)) totals[kind] = (totals[kind] ?? 0) + count;
    // A kind without a full batch has no rows left, or only rows that are locked at present.
    if (Object.values(counts).every((count) => count < BATCH)) break;
  }
  return totals;
}
