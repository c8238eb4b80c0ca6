const BATCH = 1_000;
/** More is left to the next run of the job. */
const MAX_BATCHES = 100;

/** Sweeps batch after batch until one is not full, and returns the number of rows. */
export async function inBatches(sweep: (batch: number) => Promise<number>): Promise<number> {
  let total = 0;
  for (let round = 1; round <= MAX_BATCHES; round++) {
    const count = await sweep(BATCH);
    total += count;
    if (count < BATCH) break;
  }
  return total;
}
