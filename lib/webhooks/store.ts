/**
 * Webhooks and their deliveries (supabase/schemas/85_webhooks.sql). The functions of the API take the account, and
 * resources of another account answer exactly like missing ones; the functions of the worker serve all accounts.
 * @throws DatabaseUnavailable from every function here.
 */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import {
  type Page,
  type PageRequest,
  pageArguments,
  pageOf,
} from "@platform/endpoint/contract/pagination";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { z } from "zod";
import { rowOf, sentenceOf } from "../platform/database/columns.ts";
import type { Database } from "../platform/database/port.ts";
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
const storedWebhook = rowOf(webhook, { previous_secret_expires_at: "previous_secret_until" });
const foundWebhook = z.union([
  z.object({ webhook: storedWebhook }).transform((answer) => answer.webhook),
  refused,
]);
const error = sentenceOf({ interrupted: "The attempt was interrupted" }).nullable();
const attempts = z.array(delivery.shape.attempts.element.extend({ error }));
const columns = { attempts: "log", next_attempt_at: "due_at" };
const storedDelivery = rowOf(delivery.extend({ attempts }), columns);
const foundDelivery = z.object({ delivery: storedDelivery }).transform((answer) => answer.delivery);

/** Errors: 403 when the account has 20 webhooks, 409 when it has one with this URL. */
export function insertWebhook(
  db: Database,
  accountId: string,
  values: NewWebhook & { readonly id: string; readonly sealedSecret: string },
): Promise<Webhook | AppError> {
  const args = {
    accountId,
    id: values.id,
    url: values.url,
    events: values.events,
    enabled: values.enabled,
    secret: values.sealedSecret,
    max: MAX_WEBHOOKS,
  };
  return call(db, "create_webhook", args, foundWebhook);
}

export function selectWebhooks(
  db: Database,
  accountId: string,
  page: PageRequest,
): Promise<Page<Webhook>> {
  const args = { accountId, ...pageArguments(page) };
  return call(db, "list_webhooks", args, pageOf(storedWebhook, page));
}

/** Errors: 404. */
export const selectWebhook = (
  db: Database,
  accountId: string,
  id: string,
): Promise<Webhook | AppError> => call(db, "get_webhook", { accountId, id }, foundWebhook);

/** Errors: 404, and 409 when the account has another webhook with the URL. */
export function changeWebhook(
  db: Database,
  accountId: string,
  id: string,
  changes: WebhookChanges,
): Promise<Webhook | AppError> {
  const args = {
    accountId,
    id,
    url: changes.url ?? null,
    events: changes.events ?? null,
    enabled: changes.enabled ?? null,
  };
  return call(db, "update_webhook", args, foundWebhook);
}

/** Errors: 404. */
export async function removeWebhook(
  db: Database,
  accountId: string,
  id: string,
): Promise<AppError | undefined> {
  const isDeleted = await call(db, "delete_webhook", { accountId, id });
  return isDeleted ? undefined : webhookNotFound;
}

/** Errors: 404. */
export function replaceSecret(
  db: Database,
  accountId: string,
  id: string,
  sealedSecret: string,
): Promise<Webhook | AppError> {
  return call(db, "rotate_webhook_secret", { accountId, id, secret: sealedSecret }, foundWebhook);
}

/** Errors: 404. */
export function selectDeliveries(
  db: Database,
  accountId: string,
  webhookId: string,
  page: PageRequest,
) {
  const args = { accountId, webhookId, ...pageArguments(page) };
  return call(
    db,
    "list_webhook_deliveries",
    args,
    z.union([pageOf(storedDelivery, page), refused]),
  );
}

/** Errors: 404. */
export function insertTestDelivery(
  db: Database,
  accountId: string,
  id: string,
): Promise<Delivery | AppError> {
  return call(db, "test_webhook", { accountId, id }, z.union([foundDelivery, refused]));
}

/** Errors: 404. */
export function repeatDelivery(
  db: Database,
  accountId: string,
  webhookId: string,
  id: string,
): Promise<Delivery | AppError> {
  const args = { accountId, webhookId, id };
  const missing = refusalOf({ missing: deliveryNotFound });
  return call(db, "redeliver_webhook", args, z.union([foundDelivery, missing]));
}

const claimed = z.array(
  z.object({
    id: z.string(),
    accountId: z.string(),
    leaseId: z.string(),
    /** Null for the `webhook_url` of a run that is not the URL of a webhook. */
    webhookId: z.string().nullable(),
    url: z.string(),
    type: z.string(),
    data: z.record(z.string(), z.unknown()),
    createdAt: z.string(),
    /** Counts from 1. */
    attempt: z.int(),
    /** Sealed, the newest first; none without a webhook. */
    secrets: z.array(z.string()),
  }),
);
export type ClaimedDelivery = z.output<typeof claimed>[number];

export interface ClaimLimits {
  /** Only accounts whose ids follow this one are considered, so all have their turn. */
  readonly afterAccountId: string;
  readonly limit: number;
  /** The maximum of deliveries in flight for one account, in all processes. */
  readonly perAccount: number;
  /** After this long the process counts as dead, and the delivery is due again. */
  readonly leaseSeconds: number;
}

/** Leases deliveries that are due, in the order of their accounts' ids. */
export function claimDeliveries(db: Database, limits: ClaimLimits): Promise<ClaimedDelivery[]> {
  const args = {
    after: limits.afterAccountId,
    limit: limits.limit,
    perAccount: limits.perAccount,
    leaseSeconds: limits.leaseSeconds,
  };
  return call(db, "claim_webhook_deliveries", args, claimed);
}

export interface Attempt {
  /** `gone`: the endpoint wants no more deliveries. */
  readonly outcome: "delivered" | "failed" | "gone";
  readonly attemptedAt: Date;
  readonly statusCode: number | null;
  readonly durationMs: number;
  readonly error: string | null;
  /** The first part of the answer. */
  readonly response: string | null;
}

/** Ends a leased attempt. Returns false when another process has taken the delivery over. */
export function recordAttempt(
  db: Database,
  { id, leaseId }: ClaimedDelivery,
  attempt: Attempt,
  retrySeconds: number,
): Promise<boolean> {
  const args = {
    id,
    leaseId,
    attempt: {
      attempted_at: attempt.attemptedAt.toISOString(),
      status_code: attempt.statusCode,
      duration_ms: attempt.durationMs,
      error: attempt.error,
      response: attempt.response,
    },
    outcome: attempt.outcome,
    retrySeconds,
  };
  return call(db, "record_webhook_attempt", args);
}
