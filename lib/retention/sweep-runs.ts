import { config } from "../platform/config.ts";
import { fillRunKindBatch, sweepRunTraceBatch } from "./store.ts";

const BATCH = 1_000;
const MAX_BATCHES = 100;

/** Deletes the traces of runs that have expired, and returns their number. */
export const sweepRunTraces = (): Promise<number> =>
  inBatches(() => sweepRunTraceBatch(BATCH, config().RUN_TRACE_RETENTION_DAYS));

/** Fills in what older versions did not store of a run: its kind and its artist. Returns their number. */
export const fillRunKinds = (): Promise<number> => inBatches(() => fillRunKindBatch(BATCH));

async function inBatches(sweep: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let batch = 1; batch <= MAX_BATCHES; batch++) {
    const count = await sweep();
    total += count;
    if (count < BATCH) break;
  }
  return total;
}
