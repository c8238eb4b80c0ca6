import { config } from "../platform/config.ts";
import { inBatches } from "./in-batches.ts";
import { sweepRunTraceBatch } from "./store.ts";

/** Deletes the traces of runs that have expired, and returns their number. */
export const sweepRunTraces = (): Promise<number> =>
  inBatches((batch) => sweepRunTraceBatch(batch, config().RUN_TRACE_RETENTION_DAYS));
