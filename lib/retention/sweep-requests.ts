import { config } from "../platform/config.ts";
import { sweepRequestBatch } from "../requests/store.ts";
import { inBatches } from "./in-batches.ts";

/** Deletes requests that have been in the log for long enough, and returns their number. */
export const sweepRequests = (): Promise<number> =>
  inBatches((batch) => sweepRequestBatch(batch, config().REQUEST_LOG_RETENTION_DAYS));
