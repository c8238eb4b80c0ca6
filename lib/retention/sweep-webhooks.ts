import { config } from "../platform/config.ts";
import { sweepDeliveries } from "../webhooks/outbox.ts";
import { inBatches } from "./in-batches.ts";

/** Deletes webhook deliveries that ended long ago, and returns their number. */
export const sweepWebhooks = (): Promise<number> =>
  inBatches((batch) => sweepDeliveries(batch, config().WEBHOOK_RETENTION_DAYS));
