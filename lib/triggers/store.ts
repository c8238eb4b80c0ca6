/**
 * Triggers and their events (supabase/schemas/61_triggers.sql). The functions of the API take the account, and
 * resources of another account answer exactly like missing ones. This file is long because it has all of their queries.
 * @throws DatabaseUnavailable from every function here.
 */

import {
  type AppError,
  appError,
  type ErrorCode,
  statusOf,
} from "@platform/endpoint/contract/app-error";
import {
  type Page,
  type PageRequest,
  pageArguments,
  pageOf,
} from "@platform/endpoint/contract/pagination";
import { rate, tooManyRequests } from "@platform/endpoint/contract/rate-limit";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { z } from "zod";
import { MAX_EVENTS_PER_HOUR, MAX_SUBSCRIBERS } from "../connectors/contract.ts";
import { config } from "../platform/config.ts";
import { rowOf } from "../platform/database/columns.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import { firing, LEASE_SECONDS } from "../tasks/store.ts";
import type { SecretOfTrigger } from "./authenticate-event.ts";
import {
  type ConnectorTrigger,
  connectorTrigger,
  MAX_TRIGGERS,
  type NewConnector,
  type NewWebhook,
  type Trigger,
  type TriggerEvent,
  triggerEvent,
  type WebhookTrigger,
  webhookTrigger,
} from "./contract.ts";

/** A wrong secret and a trigger that does not exist have one answer. */
export const unauthorized = appError("unauthorized", "Unauthorized");
const triggerNotFound = appError("not_found", "Trigger not found");
const refusals = {
  rate_limited: `The trigger has accepted ${MAX_EVENTS_PER_HOUR} events within an hour`,
  task_disabled: "The task is disabled: enable it to accept events",
  source_disabled:
    "The service sends no more events: connect it again if its connection has expired, delete this trigger, and create it again",
};

const refused = refusalOf({
  task: appError("not_found", "Task not found"),
  missing: triggerNotFound,
  full: appError(
    "quota_exceeded",
    `The task has ${MAX_TRIGGERS} triggers: delete one to make room`,
  ),
  shared: appError(
    "quota_exceeded",
    `The account has ${MAX_SUBSCRIBERS} triggers at this event with this config: delete one to make room`,
  ),
  busy: appError("unavailable", "Events of the account are being ended: try again in a moment", {
    headers: { "retry-after": "2" },
  }),
});
const storedWebhook = rowOf(webhookTrigger.omit({ url: true })).transform((row) => ({
  ...row,
  url: `${serviceOrigin()}/api/triggers/${row.id}`,
}));
const storedConnector = rowOf(connectorTrigger);
const storedTrigger = z.union([storedWebhook, storedConnector]);
const isRefusal = (reason: string): reason is keyof typeof refusals =>
  Object.hasOwn(refusals, reason);
const storedEvent = rowOf(triggerEvent).transform((event) => ({
  ...event,
  reason: event.reason !== null && isRefusal(event.reason) ? refusals[event.reason] : event.reason,
}));

/** Errors: 403 when the task has 10 triggers, 404 `Task not found`. */
export function insertTrigger(
  db: Database,
  accountId: string,
  taskId: string,
  values: Pick<NewWebhook, "secret_in_url"> & SecretOfTrigger,
): Promise<WebhookTrigger | AppError> {
  const args = {
    accountId,
    taskId,
    id: values.id,
    kind: "webhook",
    signature: values.signature,
    secret: values.secret,
    secretInUrl: values.secret_in_url,
    max: MAX_TRIGGERS,
  };
  const made = z.object({ trigger: storedWebhook }).transform((answer) => answer.trigger);
  return call(db, "create_task_trigger", args, z.union([made, refused]));
}

/** Creates a trigger that is not listed yet. Errors: 403 when the task has 10 triggers, 404 `Task not found`, 503. */
export function beginConnectorTrigger(
  db: Database,
  accountId: string,
  taskId: string,
  values: Pick<NewConnector, "connector" | "event" | "config"> & { readonly id: string },
): Promise<AppError | undefined> {
  const args = {
    accountId,
    taskId,
    id: values.id,
    connector: values.connector,
    event: values.event,
    config: values.config,
    max: MAX_TRIGGERS,
  };
  const begun = z.object({ begun: z.literal(true) }).transform(() => undefined);
  return call(db, "begin_connector_trigger", args, z.union([begun, refused]));
}

/** Errors: 403 when 10 triggers of the account have the subscription, 404 when the task was deleted. */
export function confirmConnectorTrigger(
  db: Database,
  accountId: string,
  id: string,
  sourceId: string,
): Promise<ConnectorTrigger | AppError> {
  const args = { accountId, id, sourceId, max: MAX_SUBSCRIBERS };
  const made = z.object({ trigger: storedConnector }).transform((answer) => answer.trigger);
  return call(db, "confirm_connector_trigger", args, z.union([made, refused]));
}

/** Returns the triggers of an account that have the subscription. */
export const triggersOfSource = (
  db: Database,
  accountId: string,
  sourceId: string,
): Promise<{ readonly id: string; readonly connector: string }[]> =>
  call(
    db,
    "triggers_of_source",
    { accountId, sourceId, limit: MAX_SUBSCRIBERS },
    z.array(z.object({ id: z.string(), connector: z.string() })),
  );

interface ConnectorNotice {
  /** Null for the account for which the connection is recorded. */
  readonly accountId: string | null;
  readonly connectionId: string;
  /** The subscription that was disabled. Absent for a connection that has expired. */
  readonly sourceId?: string;
  readonly connector?: string;
  readonly reason?: string | null;
}

/** Records a provider's notice once for a message, and returns how many connections or triggers it concerns. */
export const recordNotice = (
  db: Database,
  { accountId, connectionId, sourceId, connector, reason }: ConnectorNotice,
  { eventId, size, sha256 }: Pick<NewEvent, "eventId" | "size" | "sha256">,
): Promise<number> => {
  const args = { accountId, connectionId };
  const end = { sourceId: sourceId ?? null, connector: connector ?? null };
  const message = { eventId, size, sha256 };
  const notice = { ...args, ...end, reason: reason ?? null, ...message };
  return call(db, "record_connector_notice", notice);
};

/** Errors: 404 `Task not found`. */
export function selectTriggers(
  db: Database,
  accountId: string,
  taskId: string,
  page: PageRequest,
): Promise<Page<Trigger> | AppError> {
  const args = { accountId, taskId, ...pageArguments(page) };
  return call(db, "list_task_triggers", args, z.union([pageOf(storedTrigger, page), refused]));
}

export interface TriggerPath {
  readonly id: string;
  readonly trigger_id: string;
}

/** Errors: 404. */
export function selectTriggerEvents(
  db: Database,
  accountId: string,
  path: TriggerPath,
  page: PageRequest,
): Promise<Page<TriggerEvent> | AppError> {
  const { id: taskId, trigger_id: triggerId } = path;
  const args = { accountId, taskId, triggerId, ...pageArguments(page) };
  return call(db, "list_trigger_events", args, z.union([pageOf(storedEvent, page), refused]));
}

/** Errors: 404. */
export async function removeTrigger(
  db: Database,
  accountId: string,
  path: TriggerPath,
): Promise<AppError | undefined> {
  const args = { accountId, taskId: path.id, id: path.trigger_id };
  const isDeleted = await call(db, "delete_task_trigger", args);
  return isDeleted ? undefined : triggerNotFound;
}

const opened = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("limited"), rate }),
  z.object({ outcome: z.literal("unknown") }),
  z.object({
    outcome: z.literal("known"),
    accountId: z.string(),
    signature: z.enum(["standard", "github", "slack"]).nullable(),
    secret: z.string(),
    secretInUrl: z.boolean(),
  }),
]);

/**
 * Returns a trigger of any account, to authenticate a request with it. Errors: 401 without such a trigger, 429 when the
 * address has sent too many requests.
 * @param address the bucket of the address limit
 */
export async function openTrigger(
  db: Database,
  id: string,
  address: string,
): Promise<(SecretOfTrigger & { accountId: string; secretInUrl: boolean }) | AppError> {
  const { ADDRESS_RATE_LIMIT } = config();
  const args = { id, address, addressLimit: ADDRESS_RATE_LIMIT };
  const found = await call(db, "open_trigger", args, opened);
  if (found.outcome === "limited") return tooManyRequests({ by: "address", ...found.rate });
  return found.outcome === "unknown" ? unauthorized : { id, ...found };
}

const failure = z
  .object({
    code: z.custom<ErrorCode>((code) => typeof code === "string" && Object.hasOwn(statusOf, code)),
    message: z.string(),
  })
  .transform(({ code, message }) => appError(code, message));

const state = z.object({
  id: z.string(),
  runId: z.string().nullable(),
  /** Whether the request that has accepted the event is starting its run. */
  isStarting: z.boolean(),
  /** Why the run was given up. */
  error: failure.catch(appError("conflict", "The run could not be started")).nullable(),
});
export type EventState = z.output<typeof state>;

const received = state.extend({
  duplicate: z.boolean(),
  /** Leased to this request, which accepted the event. */
  firing: firing.optional(),
});

const notReceived = z
  .object({
    refused: z.enum(["missing", "task_disabled", "rate_limited"]),
    retryAfter: z.number().nullish(),
  })
  .transform(({ refused: reason, retryAfter }): AppError => {
    if (reason === "missing") return unauthorized;
    if (reason === "task_disabled") return appError("conflict", refusals.task_disabled);
    const headers = { "retry-after": String(Math.max(1, retryAfter ?? 1)) };
    return appError("rate_limited", refusals.rate_limited, { headers });
  });

export interface NewEvent {
  /** For the event, unless it has been received before. */
  readonly id: string;
  readonly eventId: string | null;
  readonly contentType: string | null;
  readonly size: number;
  readonly sha256: string;
  /** The file `event.json`. */
  readonly content: string;
}

/** Returns the state of an event that `insertEvent` has returned. */
export const readEvent = (db: Database, id: string): Promise<EventState> =>
  call(db, "trigger_event_state", { id }, state);

/**
 * Accepts an event and leases its firing, or finds the event of an earlier request with the same `eventId`. Errors: 401
 * when the trigger has been deleted, 409 for a disabled task, 429 for too many events.
 */
export function insertEvent(
  db: Database,
  triggerId: string,
  event: NewEvent,
): Promise<z.output<typeof received> | AppError> {
  const args = {
    triggerId,
    id: event.id,
    eventId: event.eventId,
    contentType: event.contentType,
    size: event.size,
    sha256: event.sha256,
    content: event.content,
    maxPerHour: MAX_EVENTS_PER_HOUR,
    leaseSeconds: LEASE_SECONDS,
  };
  return call(db, "receive_trigger_event", args, z.union([received, notReceived]));
}
