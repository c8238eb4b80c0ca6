import { type AppError, isAppError } from "../contract/app-error.ts";
import type { Delivery } from "./contract.ts";
import { deliveryWorker } from "./delivery-worker.ts";
import { insertTestDelivery } from "./store.ts";

/** Queues a test event and starts its delivery. Errors: 404. */
export async function testWebhook(accountId: string, id: string): Promise<Delivery | AppError> {
  const delivery = await insertTestDelivery(accountId, id);
  if (!isAppError(delivery)) deliveryWorker().wake();
  return delivery;
}
