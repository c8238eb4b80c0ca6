import { config } from "../platform/config.ts";
import { sweepDeliveries } from "../webhooks/outbox.ts";

const BATCH = 1_000;
const MAX_BATCHES = 100;

/** Deletes webhook deliveries that ended long ago, and returns their number. */
export async function sweepWebhooks(): Promise<number> {
  let total = 0;
  for (let batch = 1; batch <= MAX_BATCHES; batch++) {
    const count = await sweepDeliveries(BATCH, config().WEBHOOK_RETENTION_DAYS);
    total += count;
    if (count < BATCH) break;
  }
  return total;
}
