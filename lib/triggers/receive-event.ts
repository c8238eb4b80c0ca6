/** Receives an event from a stranger and starts the run of its task. */
import { createHash, randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import type { App } from "../app.ts";
import { type AppError, invalidField, isAppError } from "../contract/app-error.ts";
import { startEvent } from "../schedules/fire-tasks.ts";
import type { RunParts } from "../turns/start-run.ts";
import { isSecret, isSigned } from "./authenticate-event.ts";
import type { Signature } from "./contract.ts";
import { eventFile } from "./event-file.ts";
import { type EventState, insertEvent, openTrigger, readEvent, unauthorized } from "./store.ts";

/** For a run that another request starts. */
const MAX_WAIT_MS = 10_000;
const POLL_MS = 200;

export interface EventRequest {
  readonly triggerId: string;
  /** The secret in the URL. */
  readonly secret: string | undefined;
  readonly request: Request;
  /** The bucket of the address limit. */
  readonly address: string;
  /** Resolves to the bytes of the body, which are bounded. */
  readonly readBody: () => Promise<Uint8Array | AppError>;
  /** Keeps the process alive until work that follows the response has ended. */
  readonly keepAlive: (work: Promise<unknown>) => void;
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
  app: RunParts & Pick<App, "tasks">,
  { triggerId, secret, request, address, readBody, keepAlive }: EventRequest,
): Promise<Received | AppError> {
  const { headers } = request;
  const trigger = await openTrigger(triggerId, address);
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
  if (eventId !== null && !/^[\x20-\x7e]{1,255}$/.test(eventId)) {
    return invalidField("webhook-id", "The event's id must be 1 to 255 printable ASCII characters");
  }

  const sha256 = createHash("sha256").update(body).digest("hex");
  const { content } = file;
  const event = { id: randomUUID(), eventId, contentType, size: body.length, sha256, content };
  // A slot of the trigger's account: its flood takes nothing from others.
  return app.queues.requests.run(trigger.accountId, request.signal, async () => {
    const received = await insertEvent(triggerId, event);
    if (isAppError(received)) return received;
    const { firing, duplicate } = received;
    const run = firing
      ? await startEvent(app, firing, keepAlive)
      : await startOf(received, request);
    return isAppError(run) ? run : { runId: run?.runId ?? null, duplicate };
  });
}

/** Waits while another request starts the run of an event, and returns the run, or why there is none. */
async function startOf(event: EventState, { signal }: Request): Promise<EventState | AppError> {
  let state = event;
  for (const deadline = Date.now() + MAX_WAIT_MS; state.isStarting && Date.now() < deadline; ) {
    await setTimeout(POLL_MS, undefined, { signal });
    state = await readEvent(event.id);
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
