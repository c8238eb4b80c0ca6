import { type AppError, isAppError } from "../contract/app-error.ts";
import type { Delivery } from "./contract.ts";
import { deliveryWorker } from "./delivery-worker.ts";
import { repeatDelivery } from "./store.ts";

/** Makes a delivery due and starts it. Errors: 404. */
export async function redeliver(
  accountId: string,
  webhookId: string,
  id: string,
): Promise<Delivery | AppError> {
  const delivery = await repeatDelivery(accountId, webhookId, id);
  if (!isAppError(delivery)) deliveryWorker().wake();
  return delivery;
}
