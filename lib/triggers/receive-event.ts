/** Receives events from strangers and starts the runs of their tasks. */

import { createHash, randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { type AppError, invalidField, isAppError } from "@platform/endpoint/contract/app-error";
import type { Logger } from "pino";
import { z } from "zod";
import { connectorSlug } from "../connectors/contract.ts";
import { askProvider } from "../connectors/use-connectors.ts";
import type { Parts } from "../parts.ts";
import type { Database } from "../platform/database/port.ts";
import { startEvent } from "../tasks/fire-tasks.ts";
import type { RunParts } from "../turns/start-run.ts";
import { isFromComposio, isSecret, isSigned } from "./authenticate-event.ts";
import type { Signature } from "./contract.ts";
import { type EventFile, eventFile } from "./event-file.ts";
import {
  type EventState,
  insertEvent,
  openTrigger,
  readEvent,
  recordNotice,
  triggersOfSource,
  unauthorized,
} from "./store.ts";

/** For a run that another request starts. */
const MAX_WAIT_MS = 10_000;
const POLL_MS = 200;

type Needs = RunParts & Parts<"taskRunner">;

interface Delivery {
  readonly request: Request;
  /** Resolves to the bytes of the body, which are bounded. */
  readonly readBody: () => Promise<Uint8Array | AppError>;
  /** Keeps the process alive until work that follows the response has ended. */
  readonly keepAlive: (work: Promise<unknown>) => void;
}

export interface EventRequest extends Delivery {
  readonly triggerId: string;
  /** The secret in the URL. */
  readonly secret: string | undefined;
  /** The bucket of the address limit. */
  readonly address: string;
}

export type Received =
  | { readonly runId: string | null; readonly duplicate: boolean }
  /** A handshake, which starts nothing. */
  | { readonly runId?: undefined; readonly challenge?: string | undefined };

/** Returns the response to a received event. */
export const describeReceived = (received: Received) =>
  received.runId === undefined
    ? ({ body: { status: "success", challenge: received.challenge } } as const)
    : ({
        status: 202,
        body: { status: "success", run_id: received.runId, duplicate: received.duplicate },
      } as const);

/**
 * Authenticates a request and starts a run with its body, once for all requests with the same event id. The run id is null
 * while the run cannot be started yet. Errors: 400 for a malformed body or event id, 401 unless the request is authentic, 409
 * for a disabled task, 413, 429 for too many events, and those for which no run could be started.
 */
export async function receiveEvent(
  app: Needs,
  { triggerId, secret, address, ...delivery }: EventRequest,
): Promise<Received | AppError> {
  const { request, readBody } = delivery;
  const { headers } = request;
  const trigger = await openTrigger(app.db, triggerId, address);
  if (isAppError(trigger)) return trigger;
  const { signature } = trigger;
  const given = bearerIn(headers) ?? (trigger.secretInUrl ? secret : undefined);
  if (signature === null && !isSecret(trigger, given)) return unauthorized;
  const body = await readBody();
  if (isAppError(body)) return body;
  if (signature !== null && !isSigned(trigger, signature, headers, body)) return unauthorized;

  const contentType = headers.get("content-type")?.slice(0, 200) ?? null;
  const file = eventFile(contentType, body);
  if (isAppError(file)) return file;
  const message = slackMessage.safeParse(file.json).data;
  if (signature === "slack" && message?.type === "url_verification") {
    return { challenge: message.challenge };
  }
  if (signature === "github" && headers.get("x-github-event") === "ping") {
    return {};
  }
  const eventId = eventIdIn(signature, headers, message?.event_id);
  if (eventId !== null && !EVENT_ID.test(eventId)) return malformedId;
  return acceptEvent(app, trigger, { eventId, contentType, body, file }, delivery);
}

const EVENT_ID = /^[\x20-\x7e]{1,255}$/;
const malformedId = invalidField(
  "webhook-id",
  "The event's id must be 1 to 255 printable ASCII characters",
);

interface SentEvent {
  readonly eventId: string | null;
  readonly contentType: string | null;
  readonly body: Uint8Array;
  readonly file: EventFile;
}

/** Accepts an authentic event, and starts its run once for all with its id. Errors: as `receiveEvent`. */
function acceptEvent(
  app: Needs,
  { id: triggerId, accountId }: { readonly id: string; readonly accountId: string },
  { eventId, contentType, body, file: { content } }: SentEvent,
  { request, keepAlive }: Delivery,
) {
  const sha256 = createHash("sha256").update(body).digest("hex");
  const event = { id: randomUUID(), eventId, contentType, size: body.length, sha256, content };
  // A slot of the trigger's account: its flood takes nothing from others.
  return app.queues.requests.run(accountId, request.signal, async () => {
    const received = await insertEvent(app.db, triggerId, event);
    if (isAppError(received)) return received;
    const { firing, duplicate } = received;
    const run = firing
      ? await startEvent(app, firing, keepAlive)
      : await startOf(app.db, received, request);
    return isAppError(run) ? run : { runId: run?.runId ?? null, duplicate };
  });
}

const vendorId = z.string().regex(/^[\x21-\x7e]{1,200}$/);
const connectorEvent = z.object({
  type: z.literal("composio.trigger.message"),
  metadata: z.object({
    trigger_id: vendorId,
    user_id: z.uuid(),
    connected_account_id: z.string(),
  }),
});

const userId = z.uuid().nullable().catch(null);
const connectorNotice = z.union([
  z
    .object({
      type: z.literal("composio.trigger.disabled"),
      data: z.object({
        id: vendorId,
        user_id: userId,
        connected_account_id: vendorId.catch(""),
        disabled_reason: z
          .string()
          .regex(/^\w{1,100}$/)
          .nullable()
          .catch(null),
      }),
    })
    .transform(({ data: { id: sourceId, user_id: accountId, ...data } }) => ({
      ...{ accountId, sourceId, reason: data.disabled_reason },
      connectionId: data.connected_account_id,
    })),
  z
    .object({
      type: z.literal("composio.connected_account.expired"),
      data: z.object({
        id: vendorId,
        user_id: userId,
        toolkit: z.object({ slug: z.string().toLowerCase().pipe(connectorSlug) }),
      }),
    })
    .transform(({ data: { id: connectionId, user_id: accountId, toolkit } }) => ({
      ...{ accountId, connectionId, connector: toolkit.slug },
    })),
]);

/**
 * Authenticates a message of Composio, which sends the events of all accounts, and starts a run of each trigger of its
 * subscription, or notifies the account of an end. A message that concerns none is a success, because Composio would repeat
 * it, and so is one that a trigger refuses. Errors: 400, 401 unless Composio has signed it, 413, and the errors of connectors.
 */
export async function receiveComposioEvent(
  app: Needs & Parts<"connectors" | "webhookWorker">,
  delivery: Delivery,
  log: Logger,
): Promise<{ readonly accepted: number } | AppError> {
  const { headers } = delivery.request;
  const body = await delivery.readBody();
  if (isAppError(body)) return body;
  if (!isFromComposio(headers, body)) return unauthorized;
  const eventId = headers.get("webhook-id") ?? "";
  if (!EVENT_ID.test(eventId)) return malformedId;
  const contentType = "application/json";
  const file = eventFile(contentType, body);
  if (isAppError(file)) return file;
  const { data: notice } = connectorNotice.safeParse(file.json);
  if (notice) {
    const sha256 = createHash("sha256").update(body).digest("hex");
    const accepted = await recordNotice(app.db, notice, { eventId, size: body.length, sha256 });
    if (accepted > 0) app.webhookWorker.wake();
    return { accepted };
  }
  const { data: message } = connectorEvent.safeParse(file.json);
  if (!message) return { accepted: 0 };
  const { user_id: accountId, trigger_id: sourceId, connected_account_id: id } = message.metadata;
  const triggers = await triggersOfSource(app.db, accountId, sourceId);
  if (triggers.length === 0) return { accepted: 0 };
  // The account may have lost the connection since, or its right to it.
  const connection = await askProvider(
    app,
    log,
    (provider) => provider.list(accountId),
    ({ connections }) => connections.find((one) => one.id === id && one.status === "active"),
  );
  if (isAppError(connection)) return connection;
  const event = { eventId, contentType, body, file };
  const received = await Promise.all(
    triggers
      .filter(({ connector }) => connector === connection?.connector)
      .map((trigger) => acceptEvent(app, { ...trigger, accountId }, event, delivery)),
  );
  return { accepted: received.filter((one) => !isAppError(one)).length };
}

/** Waits while another request starts the run of an event, and returns the run, or why there is none. */
async function startOf(
  db: Database,
  event: EventState,
  { signal }: Request,
): Promise<EventState | AppError> {
  let state = event;
  for (const deadline = Date.now() + MAX_WAIT_MS; state.isStarting && Date.now() < deadline; ) {
    await setTimeout(POLL_MS, undefined, { signal });
    state = await readEvent(db, event.id);
  }
  return state.error ?? state;
}

const bearerIn = (headers: Headers): string | undefined =>
  /^bearer +([^\s]+) *$/i.exec(headers.get("authorization") ?? "")?.[1];

const slackMessage = z.object({
  type: z.string().optional(),
  challenge: z.string().optional(),
  event_id: z.string().optional(),
});

/** Returns the sender's id of an event, which its repetitions have, too; null without one. */
function eventIdIn(
  signature: Signature | null,
  headers: Headers,
  slackEventId: string | undefined,
): string | null {
  if (signature === "github") return headers.get("x-github-delivery");
  // Commands and buttons have no id, but each is signed with its time.
  if (signature === "slack") return slackEventId ?? headers.get("x-slack-signature");
  if (signature === "standard") return headers.get("webhook-id");
  return headers.get("webhook-id") ?? headers.get("idempotency-key");
}
