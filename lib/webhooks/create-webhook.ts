import { randomUUID } from "node:crypto";
import { type AppError, isAppError } from "../contract/app-error.ts";
import { checkEndpoint } from "./check-endpoint.ts";
import type { NewWebhook, Webhook } from "./contract.ts";
import { newSecret } from "./secret.ts";
import { insertWebhook } from "./store.ts";

/** Errors: 400 for a URL that events may not be sent to; 403; 409. */
export async function createWebhook(
  accountId: string,
  values: NewWebhook,
): Promise<{ webhook: Webhook; secret: string } | AppError> {
  const fault = checkEndpoint("url", values.url);
  if (fault) return fault;
  const id = randomUUID();
  const { secret, sealedSecret } = newSecret(id);
  const webhook = await insertWebhook(accountId, { ...values, id, sealedSecret });
  return isAppError(webhook) ? webhook : { webhook, secret };
}
