/** The endpoints of connections between an account and third-party services. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import { dateTime, queryInteger, uuid } from "@platform/endpoint/contract/fields";
import { z } from "zod";
import { isSafeCallback } from "./check-callback.ts";

/** A trigger accepts at most so many events within an hour. */
export const MAX_EVENTS_PER_HOUR = 60;
/** So many triggers of an account may have the same event with the same config. */
export const MAX_SUBSCRIBERS = 10;

export const connectorSlug = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    "connector must be a slug of at most 64 lower-case letters, digits, hyphens and underscores",
  );

/** Of a chat or a run; each is kept once. */
export const chosenConnectors = z
  .array(connectorSlug)
  .max(20)
  .transform((connectors) => [...new Set(connectors)]);

export const connection = z
  .object({
    id: z.string(),
    connector: z.string(),
    status: z
      .enum(["pending", "active", "inactive", "expired", "failed"])
      .describe("`pending` until the person has given consent at the redirect URL."),
    createdAt: dateTime,
    updatedAt: dateTime,
  })
  .meta({ id: "Connection" });
export type Connection = z.output<typeof connection>;

const shared = {
  path: "/api/connectors",
  tag: "Connectors",
  family: "plain",
  auth: "required",
} as const;

const actionParams = z.object({
  connector: connectorSlug.describe("The connector's slug, such as `gmail`"),
});

const dataResponse = <S extends z.core.$ZodLooseShape>(description: string, data: S) =>
  ({
    200: { description, schema: z.object({ success: z.literal(true), data: z.object(data) }) },
  }) as const;

export const createConnectionContract = contract({
  ...shared,
  method: "POST",
  summary: "Get the URL at which a person connects a third-party service",
  description:
    "Afterwards, the person is redirected to `callback_url` with `status` (`success` or `failed`) added.",
  accountAccess: { in: "body", field: "account_id" },
  body: z.object({
    connector: connectorSlug,
    callback_url: z
      .url()
      .max(2048)
      .refine(isSafeCallback, "callback_url must be https, or http on localhost")
      .nullish(),
    account_id: uuid.nullish().describe("Connect the service for this account"),
  }),
  responses: dataResponse("The URL to send the person to", {
    connector: z.string(),
    redirectUrl: z.url(),
  }),
  errors: ["not_found", "upstream_error", "upstream_timeout", "not_configured"],
});

export const listConnectionsContract = contract({
  ...shared,
  method: "GET",
  summary: "List the account's connections, newest first",
  accountAccess: { in: "query", field: "account_id" },
  query: z.object({ account_id: uuid.optional().describe("The connections of this account") }),
  responses: dataResponse("The connections and their statuses", {
    connections: z.array(connection),
  }),
  errors: ["upstream_error", "upstream_timeout", "not_configured"],
});

export const removeConnectionsContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/connectors/{connector}",
  summary: "Disconnect a third-party service",
  description:
    "Removes all connections of the account to the service, whatever their status, and the triggers of its tasks at events of the service. Chats and runs that name the connector can no longer use it. The service itself may list this application until the person removes it there, too.",
  accountAccess: { in: "query", field: "account_id" },
  params: actionParams,
  query: z.object({ account_id: uuid.optional().describe("The connections of this account") }),
  responses: dataResponse("The service is disconnected", {
    connector: z.string(),
    removed: z.int().describe("How many connections were removed"),
  }),
  errors: ["not_found", "upstream_error", "upstream_timeout", "not_configured"],
});

const action = z
  .object({
    name: z.string(),
    description: z.string(),
    inputSchema: z.record(z.string(), z.unknown()).describe("The JSON Schema of `input`"),
  })
  .meta({ id: "ConnectorAction" });
export type ConnectorAction = z.output<typeof action>;

const ofRuns =
  "A run may call this for the connectors that were named for it: by `connectors` of `POST /api/chat/runs`, or for its chat.";

const event = z
  .object({
    name: z.string(),
    title: z.string(),
    description: z.string(),
    configSchema: z.record(z.string(), z.unknown()).describe("The JSON Schema of `config`"),
  })
  .meta({ id: "ConnectorEvent" });
export type ConnectorEvent = z.output<typeof event>;

export const listConnectorEventsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/connectors/{connector}/events",
  summary: "List the events of a connector",
  description:
    'Each can start runs of a task: `POST /api/tasks/{id}/triggers` with `kind: "connector"`.',
  params: actionParams,
  query: z.object({
    limit: queryInteger({ min: 1, max: 100, default: 20 }).describe("Events per page"),
    cursor: z.string().min(1).max(500).optional().describe("`nextCursor` of the page before"),
  }),
  responses: dataResponse("A page of events, with the JSON Schema of their config", {
    events: z.array(event),
    nextCursor: z.string().nullable(),
  }),
  errors: ["not_found", "upstream_error", "upstream_timeout", "not_configured"],
});

export const listActionsContract = contract({
  ...shared,
  method: "GET",
  path: "/api/connectors/{connector}/actions",
  runCredential: true,
  words: "own",
  summary: "List what a connector can do",
  description: ofRuns,
  params: actionParams,
  query: z.object({
    limit: queryInteger({ min: 1, max: 100, default: 20 }).describe("Actions per page"),
    cursor: z.string().min(1).max(500).optional().describe("`nextCursor` of the page before"),
  }),
  responses: dataResponse("A page of actions, with the JSON Schema of their input", {
    actions: z.array(action),
    nextCursor: z.string().nullable(),
  }),
  errors: ["not_found", "forbidden", "upstream_error", "upstream_timeout", "not_configured"],
});

export const runActionContract = contract({
  ...shared,
  method: "POST",
  path: "/api/connectors/{connector}/actions/{action}",
  runCredential: true,
  words: ({ params }) => [{ kind: "connector", name: String(params.connector) }],
  effect: "connectors",
  summary: "Run an action with the account's connection",
  description: `An action that the service refuses is a success of this request with \`successful: false\`. After 502 or 504 the action may have run nevertheless. ${ofRuns}`,
  accountAccess: { in: "body", field: "account_id" },
  params: actionParams.extend({
    action: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/, "action must be the name of an action")
      .describe("The action's `name`"),
  }),
  body: z.object({
    input: z.record(z.string(), z.unknown()).describe("As the action's `inputSchema` has it"),
    account_id: uuid.nullish().describe("Use the connection of this account"),
  }),
  responses: dataResponse("What the action has returned", {
    successful: z.boolean().describe("False when the service has refused the action"),
    output: z.unknown(),
    error: z.string().nullable().describe("What the service says about a refusal"),
  }),
  errors: [
    "not_found",
    "forbidden",
    "conflict",
    "upstream_error",
    "upstream_timeout",
    "not_configured",
  ],
});

const ofChat = {
  ...shared,
  family: "error",
  path: "/api/sessions/{sessionId}/chats/{chatId}/connectors",
  params: z.object({
    sessionId: uuid.describe("The session's `id`"),
    chatId: uuid.describe("The chat's `id`"),
  }),
  responses: successResponse("The connectors, each once", { connectors: z.array(z.string()) }),
  errors: ["not_found"],
} as const;

export const listChatConnectorsContract = contract({
  ...ofChat,
  method: "GET",
  summary: "List the connectors that the runs of a chat may use",
  description: "None until they are named. One that is not connected cannot be used.",
});

export const chooseConnectorsContract = contract({
  ...ofChat,
  method: "PUT",
  summary: "Name the connectors that the runs of a chat may use",
  description:
    "Replaces the list, from now on and for a turn that is running, too. An empty list takes the permission away.",
  strictBody: true,
  body: z.object({ connectors: chosenConnectors.describe("At most 20 slugs") }),
});

export const apiTags = { Connectors: "Third-party services that an account is linked to." };
