/** Triggers of scheduled prompts, and the URL at which they receive events. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import { dateTime, uuid } from "@platform/endpoint/contract/fields";
import { pageQuery, pageResponse } from "@platform/endpoint/contract/pagination";
import { z } from "zod";
import { connectorSlug } from "../connectors/contract.ts";

/** The largest event. */
export const MAX_EVENT_BYTES = 1024 * 1024;
/** A task has at most so many triggers. */
export const MAX_TRIGGERS = 10;
const MAX_CONFIG_CHARS = 10_000;

const signature = z.enum(["standard", "github", "slack"]);
export type Signature = z.output<typeof signature>;

export const webhookTrigger = z.object({
  id: uuid,
  task_id: uuid,
  kind: z.literal("webhook"),
  signature: signature.nullable().meta({
    description:
      "How requests are signed: as Standard Webhooks, GitHub or Slack do. Null for requests that carry the secret.",
  }),
  secret_in_url: z.boolean().meta({ description: "Whether the URL may carry the secret" }),
  url: z.string().meta({
    description: "Takes events by POST",
    examples: ["https://api.example.com/api/triggers/3f1c…"],
  }),
  created_at: dateTime,
});
const config = z.record(z.string(), z.unknown());
export const connectorTrigger = z.object({
  id: uuid,
  task_id: uuid,
  kind: z.literal("connector"),
  connector: z.string().meta({ examples: ["gmail"] }),
  event: z.string().meta({ examples: ["GMAIL_NEW_GMAIL_MESSAGE"] }),
  config,
  created_at: dateTime,
});
export const trigger = z
  .discriminatedUnion("kind", [webhookTrigger, connectorTrigger])
  .meta({ id: "Trigger" });
export type Trigger = z.output<typeof trigger>;
export type WebhookTrigger = z.output<typeof webhookTrigger>;
export type ConnectorTrigger = z.output<typeof connectorTrigger>;

export const triggerEvent = z
  .object({
    id: uuid,
    event_id: z.string().nullable().meta({
      description: "The sender's id of the event; null without one",
    }),
    content_type: z.string().nullable(),
    size: z.int().meta({ description: "The bytes of the body" }),
    sha256: z.string().meta({ description: "The SHA-256 of the body, in hex" }),
    requests: z.int().meta({
      description:
        "The requests that this entry stands for: an event and its repetitions, which start nothing, or all refusals of one kind within an hour",
    }),
    status: z.enum(["started", "waiting", "refused"]).meta({
      description:
        "`started`: a run. `waiting`: the run could not start yet, and is tried again for an hour. `refused`: no run.",
    }),
    reason: z.string().nullable().meta({ description: "Why no run has started" }),
    run_id: z.string().nullable().meta({ description: "For `GET /api/chat/runs/{runId}`" }),
    created_at: dateTime,
    last_received_at: dateTime,
  })
  .meta({ id: "TriggerEvent" });
export type TriggerEvent = z.output<typeof triggerEvent>;

const byTask = z.object({ id: uuid.describe("The task's `id`") });
const byId = byTask.extend({ trigger_id: uuid.describe("The trigger's `id`") });
const shared = { tag: "Tasks", family: "error", auth: "required" } as const;

const newWebhook = z.object({
  kind: z.literal("webhook"),
  signature: signature.optional().meta({
    description:
      "How requests are signed: as Standard Webhooks, GitHub or Slack do. Without it they carry the secret in `authorization: Bearer`.",
  }),
  secret: z.string().min(16).max(200).optional().meta({
    description:
      "The secret with which the sender signs, such as Slack's signing secret. Only with `signature`, where Slack's is required; else one is made.",
  }),
  secret_in_url: z.boolean().default(false).meta({
    description:
      "Also takes the secret as a parameter of the URL, for senders that set no header. Proxies write URLs to their logs. Only without `signature`.",
  }),
});
const newConnector = z.object({
  kind: z.literal("connector"),
  connector: connectorSlug.describe("A service that the account has connected, such as `gmail`"),
  event: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/, "event must be the name of an event")
    .describe("The `name` of one of `GET /api/connectors/{connector}/events`"),
  config: config
    .refine(
      (value) => JSON.stringify(value).length <= MAX_CONFIG_CHARS,
      `config must be at most ${MAX_CONFIG_CHARS} characters of JSON`,
    )
    .default({})
    .describe("As the event's `configSchema` has it"),
});

export const createTriggerContract = contract({
  ...shared,
  method: "POST",
  path: "/api/tasks/{id}/triggers",
  summary: "Create a trigger",
  description:
    "An event starts a run of the task, with its content as the file `event.json`: a `POST` to the `url` of a trigger of the kind `webhook`, or an event of a service that the account has connected (`connector`). A task has at most 10 triggers.",
  params: byTask,
  strictBody: true,
  body: z.discriminatedUnion("kind", [newWebhook, newConnector]),
  responses: {
    201: {
      description: "The trigger, one of the kind `webhook` with its secret",
      schema: z.discriminatedUnion("kind", [
        z.object({
          status: z.literal("success"),
          ...webhookTrigger.shape,
          secret: z.string().meta({ description: "Shown this once", examples: ["trg_…"] }),
        }),
        z.object({ status: z.literal("success"), ...connectorTrigger.shape }),
      ]),
    },
  },
  errors: [
    "conflict",
    "not_configured",
    "not_found",
    "quota_exceeded",
    "unavailable",
    "upstream_error",
    "upstream_timeout",
  ],
});
export type NewWebhook = z.output<typeof newWebhook>;
export type NewConnector = z.output<typeof newConnector>;
export type NewTrigger = NewWebhook | NewConnector;

export const listTriggersContract = contract({
  ...shared,
  method: "GET",
  path: "/api/tasks/{id}/triggers",
  tool: true,
  summary: "List the triggers of a task, newest first",
  params: byTask,
  query: pageQuery,
  responses: pageResponse("triggers", trigger),
  errors: ["not_found"],
});

export const deleteTriggerContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/tasks/{id}/triggers/{trigger_id}",
  tool: true,
  summary: "Delete a trigger with its events",
  description: "Runs that have started go on.",
  params: byId,
  responses: successResponse("The trigger was deleted", {}),
  errors: ["not_found"],
});

export const listTriggerEventsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/tasks/{id}/triggers/{trigger_id}/events",
  tool: true,
  summary: "List the events of a trigger, newest first",
  description:
    "Events that were authentic, for seven days. Their content is in the sandbox of their run only.",
  params: byId,
  query: pageQuery,
  responses: pageResponse("events", triggerEvent),
  errors: ["not_found"],
});

export const receiveEventContract = contract({
  method: "POST",
  path: "/api/triggers/{trigger_id}",
  tag: "Tasks",
  family: "error",
  auth: "none",
  summary: "Send an event to a trigger",
  description:
    "Starts a run of the trigger's task. A body that is JSON becomes the file `event.json` as it is, any other `{content_type, body}`, or `{content_type, body_base64}` if it is no text. A request that is not authentic and a trigger that does not exist are answered alike. With the `webhook-id` or `idempotency-key` of an earlier request, or the id that GitHub or Slack gives an event, it starts nothing and is answered with the same run. A trigger accepts 60 events an hour. A disabled task starts nothing.",
  params: z.object({ trigger_id: uuid.describe("The trigger's `id`") }),
  query: z.object({
    secret: z.string().max(300).optional().meta({
      description: "The secret of a trigger with `secret_in_url`",
    }),
  }),
  headers: z.object({
    authorization: z.string().optional().meta({ description: "`Bearer` and the secret" }),
    "webhook-id": z.string().optional().meta({
      description: "Identifies the event: at most 255 printable ASCII characters",
    }),
    "idempotency-key": z.string().optional().meta({ description: "The same by another name" }),
  }),
  byteBodyLimit: MAX_EVENT_BYTES,
  responses: {
    200: {
      description: "GitHub's ping, or Slack's `url_verification` with its `challenge`",
      schema: z.object({ status: z.literal("success"), challenge: z.string().optional() }),
    },
    202: {
      description: "The event was accepted, now or by an earlier request",
      schema: z.object({
        status: z.literal("success"),
        run_id: z.string().nullable().meta({
          description: "Null while the run cannot start yet; it is tried again for an hour",
        }),
        duplicate: z.boolean().meta({ description: "Whether the event had been received before" }),
      }),
    },
  },
  errors: [
    "budget_reached",
    "conflict",
    "invalid_json",
    "messages_full",
    "not_found",
    "rate_limited",
    "sandboxes_full",
    "unauthorized",
    "unavailable",
  ],
});

export const receiveComposioEventContract = contract({
  method: "POST",
  path: "/api/triggers/composio",
  tag: "Tasks",
  family: "error",
  auth: "none",
  summary: "Receive an event from Composio",
  description:
    "The URL of Composio's webhook subscription, for all accounts. A message that Composio has signed with `COMPOSIO_WEBHOOK_SECRET` starts the triggers of its subscription; their lists of events have what they have refused. A message that a subscription was disabled, or that a connection has expired, is in these lists and sent to the webhooks of its account. Any other message starts nothing.",
  headers: z.object({
    "webhook-id": z.string().meta({ description: "Identifies the event" }),
    "webhook-timestamp": z.string().meta({ description: "Within five minutes from now" }),
    "webhook-signature": z.string().meta({
      description: "`v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64",
    }),
  }),
  byteBodyLimit: MAX_EVENT_BYTES,
  responses: successResponse("The message was received", {
    accepted: z.int().meta({
      description: "The triggers that have accepted the event, or that a notice concerns",
    }),
  }),
  errors: [
    "invalid_json",
    "not_configured",
    "rate_limited",
    "unauthorized",
    "unavailable",
    "upstream_error",
    "upstream_timeout",
  ],
});
