import type { AppError } from "../contract/app-error.ts";
import { checkEndpoint } from "./check-endpoint.ts";
import type { Webhook, WebhookChanges } from "./contract.ts";
import { changeWebhook } from "./store.ts";

/** Errors: 400 for a URL that events may not be sent to; 404; 409. */
export async function updateWebhook(
  accountId: string,
  id: string,
  changes: WebhookChanges,
): Promise<Webhook | AppError> {
  const fault = changes.url === undefined ? undefined : checkEndpoint("url", changes.url);
  return fault ?? changeWebhook(accountId, id, changes);
}
