/**
 * Webhooks and their deliveries as the API sees them (supabase/schemas/85_webhooks.sql). Every function
 * takes the account; resources of another account answer exactly like missing ones.
 * @throws DatabaseUnavailable from every function here.
 */
import { z } from "zod";
import { type AppError, appError } from "../contract/app-error.ts";
import { type Page, type PageRequest, pageArguments, storedPage } from "../contract/pagination.ts";
import { refusalOf } from "../contract/refusal.ts";
import { call } from "../platform/database/query.ts";
import {
  type Delivery,
  delivery,
  type NewWebhook,
  type Webhook,
  type WebhookChanges,
  webhook,
} from "./contract.ts";

/** More would make one run cost as many deliveries. */
const MAX_WEBHOOKS = 20;

const webhookNotFound = appError("not_found", "Webhook not found");
const deliveryNotFound = appError("not_found", "Delivery not found");

const refused = refusalOf({
  missing: webhookNotFound,
  taken: appError("conflict", "The account has a webhook with this url"),
  full: appError(
    "quota_exceeded",
    `The account has ${MAX_WEBHOOKS} webhooks: delete one to make room`,
  ),
});
const foundWebhook = z.union([
  z.object({ webhook }).transform((answer) => answer.webhook),
  refused,
]);
const missingDelivery = z.object({ refused: z.literal("missing") });
const foundDelivery = z.object({ delivery }).transform((answer) => answer.delivery);

/** Errors: 403 when the account has 20 webhooks, 409 when it has one with this URL. */
export function insertWebhook(
  accountId: string,
  values: NewWebhook & { readonly id: string; readonly sealedSecret: string },
): Promise<Webhook | AppError> {
  const args = {
    p_account_id: accountId,
    p_id: values.id,
    p_url: values.url,
    p_events: values.events,
    p_enabled: values.enabled,
    p_secret: values.sealedSecret,
    p_max: MAX_WEBHOOKS,
  };
  return call("create_webhook", args, foundWebhook);
}

export function selectWebhooks(accountId: string, page: PageRequest): Promise<Page<Webhook>> {
  const args = { p_account_id: accountId, ...pageArguments(page) };
  return call("list_webhooks", args, storedPage(webhook, "webhooks"));
}

/** Errors: 404. */
export const selectWebhook = (accountId: string, id: string): Promise<Webhook | AppError> =>
  call("get_webhook", { p_account_id: accountId, p_id: id }, foundWebhook);

/** Errors: 404, and 409 when the account has another webhook with the URL. */
export function changeWebhook(
  accountId: string,
  id: string,
  changes: WebhookChanges,
): Promise<Webhook | AppError> {
  const args = {
    p_account_id: accountId,
    p_id: id,
    p_url: changes.url ?? null,
    p_events: changes.events ?? null,
    p_enabled: changes.enabled ?? null,
  };
  return call("update_webhook", args, foundWebhook);
}

/** Errors: 404. */
export async function removeWebhook(accountId: string, id: string): Promise<AppError | undefined> {
  const isDeleted = await call(
    "delete_webhook",
    { p_account_id: accountId, p_id: id },
    z.boolean(),
  );
  return isDeleted ? undefined : webhookNotFound;
}

/** Errors: 404. */
export function replaceSecret(
  accountId: string,
  id: string,
  sealedSecret: string,
): Promise<Webhook | AppError> {
  const args = { p_account_id: accountId, p_id: id, p_secret: sealedSecret };
  return call("rotate_webhook_secret", args, foundWebhook);
}

const pageOfDeliveries = z.union([
  storedPage(delivery, "deliveries"),
  missingDelivery.transform(() => webhookNotFound),
]);

/** Errors: 404. */
export function selectDeliveries(accountId: string, webhookId: string, page: PageRequest) {
  const args = { p_account_id: accountId, p_webhook_id: webhookId, ...pageArguments(page) };
  return call("list_webhook_deliveries", args, pageOfDeliveries);
}

/** Errors: 404. */
export function insertTestDelivery(accountId: string, id: string): Promise<Delivery | AppError> {
  const found = z.union([foundDelivery, missingDelivery.transform(() => webhookNotFound)]);
  return call("test_webhook", { p_account_id: accountId, p_id: id }, found);
}

/** Errors: 404. */
export function repeatDelivery(
  accountId: string,
  webhookId: string,
  id: string,
): Promise<Delivery | AppError> {
  const args = { p_account_id: accountId, p_webhook_id: webhookId, p_id: id };
  const found = z.union([foundDelivery, missingDelivery.transform(() => deliveryNotFound)]);
  return call("redeliver_webhook", args, found);
}
