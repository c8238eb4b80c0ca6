/** The endpoints of webhooks. docs/webhooks.md describes deliveries. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import { dateTime, uuid, withAnyField } from "@platform/endpoint/contract/fields";
import { pageQuery, pageResponse } from "@platform/endpoint/contract/pagination";
import { z } from "zod";

/** The event types of webhooks. SQL queues them (`enqueue_webhook_event` in supabase/schemas). */
export const EVENT_TYPES = [
  "run.completed",
  "run.failed",
  "run.cancelled",
  "run.requires_action",
  "generation.completed",
  "generation.failed",
  "budget.warning",
  "delivery.sent",
  "delivery.failed",
  "connection.expired",
  "trigger.disabled",
] as const;

export const endpointUrl = z.url().max(2048);

const url = endpointUrl.meta({
  description:
    "An https URL with a public address, once in an account. Redirects are not followed.",
});
const events = z
  .array(z.enum(EVENT_TYPES))
  .min(1)
  .max(100)
  .overwrite((types) => [...new Set(types)]);
const enabled = z.boolean();

export const webhook = z
  .object({
    id: uuid,
    url: z.string(),
    events: z.array(z.string()),
    enabled: z.boolean(),
    disabled_reason: z.enum(["failing", "gone"]).nullable().meta({
      description:
        "Why the service has disabled it: it has failed for five days, or answered with status 410",
    }),
    failing_since: dateTime
      .nullable()
      .meta({ description: "The first failed attempt since the last one that succeeded" }),
    previous_secret_expires_at: dateTime
      .nullable()
      .meta({ description: "Until then deliveries are also signed with the secret before" }),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: "Webhook" });
export type Webhook = z.output<typeof webhook>;

const attempt = z
  .object({
    attempted_at: dateTime,
    status_code: z.int().nullable().meta({ description: "Null when there was no answer" }),
    duration_ms: z.int().nullable(),
    error: z.string().nullable().meta({ description: "Why there was no answer that counts" }),
    response: z.string().nullable().meta({ description: "The first 500 characters of the answer" }),
  })
  .meta({ id: "WebhookAttempt" });

export const delivery = z
  .object({
    id: uuid.meta({ description: "Also the `webhook-id` header of every attempt" }),
    webhook_id: uuid,
    event_type: z.string(),
    data: z.record(z.string(), z.unknown()).meta({
      description: "Ids and states, and the `output` of a run that has an `output_schema`",
    }),
    status: z.enum(["pending", "delivered", "failed"]),
    attempts: z.array(attempt).meta({ description: "The last 30 that have ended, oldest first" }),
    next_attempt_at: dateTime.nullable(),
    created_at: dateTime,
    finished_at: dateTime.nullable(),
  })
  .meta({ id: "WebhookDelivery" });
export type Delivery = z.output<typeof delivery>;

const success = { status: z.literal("success") };
const one = z.object({ ...success, webhook });
const withSecret = z.object({
  ...success,
  webhook,
  secret: z.string().meta({
    description: "`whsec_` and the key in base64. Shown this once.",
    examples: ["whsec_…"],
  }),
});
const queued = z.object({ ...success, delivery });

const byId = z.object({ id: uuid.describe("The webhook's `id`") });
const shared = { tag: "Webhooks", family: "error", auth: "required" } as const;

export const createWebhookContract = contract({
  ...shared,
  method: "POST",
  path: "/api/webhooks",
  summary: "Create a webhook",
  description:
    "Events are sent as [Standard Webhooks](https://www.standardwebhooks.com) says, at least once, for 24 hours until the endpoint answers with status 2xx. An account has at most 20 webhooks.",
  body: z.object({ url, events, enabled: enabled.default(true) }),
  responses: { 201: { description: "The webhook with its secret", schema: withSecret } },
  errors: ["quota_exceeded", "conflict"],
});

export type NewWebhook = z.output<typeof createWebhookContract.body>;

export const listWebhooksContract = contract({
  ...shared,
  method: "GET",
  path: "/api/webhooks",
  summary: "List webhooks, newest first",
  query: pageQuery,
  responses: pageResponse("webhooks", webhook),
  errors: [],
});

export const getWebhookContract = contract({
  ...shared,
  method: "GET",
  path: "/api/webhooks/{id}",
  summary: "Read a webhook",
  params: byId,
  responses: { 200: { description: "The webhook", schema: one } },
  errors: ["not_found"],
});

const changes = z.object({
  url: url.optional(),
  events: events.optional(),
  enabled: enabled.optional(),
});
export type WebhookChanges = z.output<typeof changes>;

export const updateWebhookContract = contract({
  ...shared,
  method: "PATCH",
  path: "/api/webhooks/{id}",
  summary: "Change a webhook",
  description:
    "Omitted fields stay unchanged. Deliveries that wait go to the new `url`; with `enabled: false` they fail.",
  params: byId,
  body: withAnyField(changes),
  responses: { 200: { description: "The webhook", schema: one } },
  errors: ["not_found", "conflict"],
});

export const deleteWebhookContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/webhooks/{id}",
  summary: "Delete a webhook with its deliveries",
  params: byId,
  responses: successResponse("The webhook has been deleted", {}),
  errors: ["not_found"],
});

export const rotateWebhookContract = contract({
  ...shared,
  method: "POST",
  path: "/api/webhooks/{id}/rotate",
  summary: "Replace the secret of a webhook",
  description:
    "For 24 hours deliveries carry two signatures, by the new secret and by the one before, so that the endpoint can change over at any time.",
  params: byId,
  responses: { 200: { description: "The webhook with its new secret", schema: withSecret } },
  errors: ["not_found"],
});

export const testWebhookContract = contract({
  ...shared,
  method: "POST",
  path: "/api/webhooks/{id}/test",
  summary: "Send a test event",
  description: "Sends an event of type `webhook.test`, once, also while the webhook is disabled.",
  params: byId,
  responses: { 202: { description: "The delivery, which starts at once", schema: queued } },
  errors: ["not_found"],
});

export const listDeliveriesContract = contract({
  ...shared,
  method: "GET",
  path: "/api/webhooks/{id}/deliveries",
  summary: "List the deliveries of a webhook, newest first",
  description: "Deliveries are kept for 30 days after they have ended.",
  params: byId,
  query: pageQuery,
  responses: pageResponse("deliveries", delivery),
  errors: ["not_found"],
});

export const redeliverContract = contract({
  ...shared,
  method: "POST",
  path: "/api/webhooks/{id}/deliveries/{delivery_id}/redeliver",
  summary: "Deliver an event again",
  description:
    "Attempts the delivery at once, whether it has ended or waits for its next attempt, and again for 24 hours until it succeeds. Its `webhook-id` stays the same. A disabled webhook gets one attempt.",
  params: byId.extend({ delivery_id: uuid.describe("The delivery's `id`") }),
  responses: { 202: { description: "The delivery", schema: queued } },
  errors: ["not_found"],
});

export const apiTags = {
  Webhooks: "Endpoints of an account that are told of events, and the log of deliveries.",
};
