/** Creates and changes webhooks, and starts deliveries that their owner asks for. */

import { randomUUID } from "node:crypto";
import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import type { Parts } from "../parts.ts";
import type { Database } from "../platform/database/port.ts";
import { checkEndpoint } from "./check-endpoint.ts";
import type { Delivery, NewWebhook, Webhook, WebhookChanges } from "./contract.ts";
import { newSecret } from "./secret.ts";
import {
  changeWebhook,
  insertTestDelivery,
  insertWebhook,
  repeatDelivery,
  replaceSecret,
} from "./store.ts";

/** Errors: 400 for a URL that events may not be sent to; 403; 409. */
export async function createWebhook(
  db: Database,
  accountId: string,
  values: NewWebhook,
): Promise<{ webhook: Webhook; secret: string } | AppError> {
  const fault = checkEndpoint("url", values.url);
  if (fault) return fault;
  const id = randomUUID();
  const { secret, sealedSecret } = newSecret(id);
  const webhook = await insertWebhook(db, accountId, { ...values, id, sealedSecret });
  return isAppError(webhook) ? webhook : { webhook, secret };
}

/** Errors: 400 for a URL that events may not be sent to; 404; 409. */
export async function updateWebhook(
  db: Database,
  accountId: string,
  id: string,
  changes: WebhookChanges,
): Promise<Webhook | AppError> {
  const fault = changes.url === undefined ? undefined : checkEndpoint("url", changes.url);
  return fault ?? changeWebhook(db, accountId, id, changes);
}

/** Replaces the secret; the one before signs, too, for 24 hours. Errors: 404. */
export async function rotateSecret(
  db: Database,
  accountId: string,
  id: string,
): Promise<{ webhook: Webhook; secret: string } | AppError> {
  const { secret, sealedSecret } = newSecret(id);
  const webhook = await replaceSecret(db, accountId, id, sealedSecret);
  return isAppError(webhook) ? webhook : { webhook, secret };
}

/** Queues a test event and starts its delivery. Errors: 404. */
export const testWebhook = (app: Needs, accountId: string, id: string) =>
  started(app, insertTestDelivery(app.db, accountId, id));

/** Makes a delivery due and starts it. Errors: 404. */
export const redeliver = (app: Needs, accountId: string, webhookId: string, id: string) =>
  started(app, repeatDelivery(app.db, accountId, webhookId, id));

type Needs = Parts<"db" | "webhookWorker">;

async function started({ webhookWorker }: Needs, queued: Promise<Delivery | AppError>) {
  const delivery = await queued;
  if (!isAppError(delivery)) webhookWorker.wake();
  return delivery;
}
