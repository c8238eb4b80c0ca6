import { sweepDeliveries } from "../webhooks/store.ts";
import { inBatches } from "./in-batches.ts";

const RETENTION_DAYS = 30;

/** Deletes webhook deliveries that ended long ago, and returns their number. */
export const sweepWebhooks = (): Promise<number> =>
  inBatches((batch) => sweepDeliveries(batch, RETENTION_DAYS));
