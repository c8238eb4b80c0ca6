/**
 * Vercel's Workflow service and its queue on loopback. The SDK's local World stores the data and
 * validates the order of events; this translates their protocol: CBOR, frames and CloudEvents.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { createLocalWorld } from "@workflow/world-local";
import { decode, encode } from "cbor-x";
import { HttpResponse, http } from "msw";
import { z } from "zod";
import { serveHandlers } from "./vendor-server.ts";

type Fields = Record<string, unknown>;
type OfRun = { run: string };
type OfStream = { run: string; name: string };

const RUNS = "/api/v4/runs/:run/events";
const STREAMS = "/api/v2/runs/:run";
const RETRY_MS = 1_000;

/** The field of an event's data that travels apart from the others, as bytes. */
const payloadFields: Readonly<Record<string, string>> = {
  run_created: "input",
  run_started: "input",
  run_completed: "output",
  run_failed: "error",
  step_created: "input",
  step_completed: "result",
  step_failed: "error",
  step_retrying: "error",
  hook_created: "metadata",
  hook_received: "payload",
};
/** Metadata of a frame that is not data of its event. */
const envelope = z.object({
  eventType: z.string(),
  specVersion: z.number(),
  correlationId: z.string().optional(),
});
const NO_DATA = ["eventType", "specVersion", "correlationId", "occurredAt", "vercelId"];

const statuses: Readonly<Record<string, number>> = {
  EntityConflictError: 409,
  RunExpiredError: 410,
  PreconditionFailedError: 412,
  TooEarlyError: 425,
  ThrottleError: 429,
  WorkflowRunNotFoundError: 404,
  HookNotFoundError: 404,
};

/**
 * @param dataDir where everything is kept
 * @param invoke calls the function that serves a path, as the queue does
 */
export async function startFakeWorkflow(
  dataDir: string,
  invoke: (path: string, init: RequestInit) => Promise<Response>,
) {
  const world = createLocalWorld({ dataDir });
  const known = new Set<string>();
  const leases = new Map<string, { retryMs: number | null }>();
  const ending = new AbortController();

  /** Delivers a message until a function has acknowledged it. */
  async function deliver(topic: string, body: ArrayBuffer, type: string, delayMs: number) {
    const messageId = `msg_${randomUUID()}`;
    const kind = topic.startsWith("__wkf_workflow_") ? "flow" : "step";
    let waitMs = delayMs;
    for (let attempt = 1; !ending.signal.aborted; attempt++) {
      await delay(waitMs, undefined, { signal: ending.signal }).catch(() => {});
      const receipt = randomUUID();
      const lease = { retryMs: RETRY_MS as number | null };
      leases.set(receipt, lease);
      await invoke(`/.well-known/workflow/v1/${kind}`, {
        method: "POST",
        headers: {
          "content-type": type,
          "ce-type": "com.vercel.queue.v2beta",
          "ce-vqsqueuename": topic,
          "ce-vqsconsumergroup": "default",
          "ce-vqsmessageid": messageId,
          "ce-vqsreceipthandle": receipt,
          "ce-vqsdeliverycount": String(attempt),
          "ce-vqscreatedat": new Date().toISOString(),
        },
        body,
        signal: ending.signal,
      })
        .then((response) => response.arrayBuffer())
        .catch(() => {});
      leases.delete(receipt);
      if (lease.retryMs === null) return;
      waitMs = lease.retryMs;
    }
  }

  async function createEvent(run: string, bytes: Uint8Array): Promise<Response> {
    const { meta, body } = readFrame(bytes);
    const { eventType, specVersion, correlationId } = envelope.parse(meta);
    const { hookToken: token, hookIsWebhook: isWebhook, ...rest } = meta;
    const eventData: Fields = { ...rest, ...(token ? { token, isWebhook } : {}) };
    for (const name of NO_DATA) delete eventData[name];
    const payload = payloadFields[eventType];
    if (payload && body.byteLength > 0) eventData[payload] = body;
    const request = { eventType, specVersion, correlationId, eventData };
    const created = await world.events.create(run, request as never);
    const { event } = created;
    return cbor(created, {
      "x-wf-event-id": event?.eventId ?? "none",
      "x-wf-run-id": event?.runId ?? created.run?.runId ?? run,
      "x-wf-created-at": (event?.createdAt ?? new Date()).toISOString(),
    });
  }

  async function listEvents(runId: string, query: URLSearchParams): Promise<Response> {
    const cursor = query.get("cursor");
    const pagination = {
      limit: Number(query.get("limit") ?? 100),
      sortOrder: query.get("sortOrder") === "desc" ? "desc" : "asc",
      ...(cursor ? { cursor } : {}),
    } as const;
    const page = await world.events.list({ runId, pagination });
    const frames = page.data.map(({ ...event }) => {
      const eventData: Fields = { ...("eventData" in event ? event.eventData : {}) };
      const field = payloadFields[event.eventType];
      const payload = field ? eventData[field] : undefined;
      if (field) delete eventData[field];
      const isBytes = payload instanceof Uint8Array;
      const body = payload === undefined ? NOTHING : isBytes ? payload : encode(payload);
      return writeFrame({ ...event, eventData }, body);
    });
    const end = writeFrame({ _end: 1, ...(page.cursor ? { next: page.cursor } : {}) }, NOTHING);
    return new HttpResponse(new Uint8Array(Buffer.concat([...frames, end])), {
      headers: { "content-type": "application/vnd.workflow.v4-frames" },
    });
  }

  const server = await serveHandlers([
    http.post<{ topic: string }>("/api/v3/topic/:topic", async ({ request, params }) => {
      const key = request.headers.get("vqs-idempotency-key");
      if (key !== null && known.has(key)) return new HttpResponse("duplicate", { status: 409 });
      if (key !== null) known.add(key);
      const delayMs = Number(request.headers.get("vqs-delay-seconds") ?? 0) * 1_000;
      const type = request.headers.get("content-type") ?? "";
      void deliver(params.topic, await request.arrayBuffer(), type, delayMs);
      return HttpResponse.json({ messageId: `msg_${randomUUID()}` }, { status: 201 });
    }),
    http.delete<{ receipt: string }>("/api/v3/topic/*/lease/:receipt", ({ params }) => {
      const lease = leases.get(params.receipt);
      if (!lease) return new HttpResponse("no lease", { status: 409 });
      lease.retryMs = null;
      return new HttpResponse(null, { status: 204 });
    }),
    http.patch<{ receipt: string }>(
      "/api/v3/topic/*/lease/:receipt",
      async ({ request, params }) => {
        const lease = leases.get(params.receipt);
        if (!lease) return new HttpResponse("no lease", { status: 409 });
        const asked = z
          .object({ visibilityTimeoutSeconds: z.number() })
          .parse(await request.json());
        lease.retryMs = Math.min(asked.visibilityTimeoutSeconds * 1_000, RETRY_MS);
        return HttpResponse.json({ success: true });
      },
    ),

    http.post<OfRun>(`${RUNS}/:type`, async ({ request, params }) =>
      answer(async () => createEvent(params.run, new Uint8Array(await request.arrayBuffer()))),
    ),
    http.get<OfRun>(RUNS, ({ request, params }) =>
      answer(() => listEvents(params.run, new URL(request.url).searchParams)),
    ),
    http.get<OfRun>("/api/v2/runs/:run", ({ params }) =>
      answer(async () => cbor(await world.runs.get(params.run))),
    ),

    http.put<OfStream>(`${STREAMS}/stream/:name`, async ({ request, params: { run, name } }) => {
      const bytes = new Uint8Array(await request.arrayBuffer());
      if (request.headers.has("x-stream-done")) await world.closeStream(name, run);
      else if (request.headers.has("x-stream-multi")) {
        for (const chunk of splitChunks(bytes)) await world.writeToStream(name, run, chunk);
      } else await world.writeToStream(name, run, bytes);
      return HttpResponse.json({});
    }),
    http.get<{ name: string }>("/api/v2/stream/:name", async ({ request, params }) => {
      const start = Number(new URL(request.url).searchParams.get("startIndex") ?? 0);
      return new HttpResponse(await world.readFromStream(params.name, start));
    }),
    http.get<OfStream>(`${STREAMS}/streams/:name/info`, async ({ params }) =>
      cbor(await world.getStreamInfo(params.name, params.run)),
    ),
    http.get<OfStream>(`${STREAMS}/streams/:name/chunks`, async ({ request, params }) => {
      const query = new URL(request.url).searchParams;
      const [limit, cursor] = [query.get("limit"), query.get("cursor")];
      return cbor(
        await world.getStreamChunks(params.name, params.run, {
          ...(limit ? { limit: Number(limit) } : {}),
          ...(cursor ? { cursor } : {}),
        }),
      );
    }),
  ]);

  return {
    ...server,
    async close() {
      ending.abort();
      await server.close();
      await world.close?.();
    },
  };
}

async function answer(work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return HttpResponse.json({ message }, { status: statuses[name] ?? 500 });
  }
}

const cbor = (value: unknown, headers: Record<string, string> = {}): Response =>
  new HttpResponse(new Uint8Array(encode(value)), {
    headers: { "content-type": "application/cbor", ...headers },
  });

const NOTHING = new Uint8Array(0);

/** A frame is the length of its metadata, the metadata, the length of its body, and the body. */
function writeFrame(meta: Fields, body: Uint8Array): Buffer {
  const head = encode(meta);
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(head.byteLength, 0);
  lengths.writeUInt32BE(body.byteLength, 4);
  return Buffer.concat([lengths.subarray(0, 4), head, lengths.subarray(4), body]);
}

function readFrame(bytes: Uint8Array): { meta: Fields; body: Uint8Array } {
  const buffer = Buffer.from(bytes);
  const end = 4 + buffer.readUInt32BE(0);
  const meta = z.record(z.string(), z.unknown()).parse(decode(buffer.subarray(4, end)));
  const length = buffer.readUInt32BE(end);
  return { meta, body: new Uint8Array(buffer.subarray(end + 4, end + 4 + length)) };
}

function* splitChunks(bytes: Uint8Array): Generator<Uint8Array> {
  const buffer = Buffer.from(bytes);
  for (let at = 0; at < buffer.length; ) {
    const end = at + 4 + buffer.readUInt32BE(at);
    yield new Uint8Array(buffer.subarray(at + 4, end));
    at = end;
  }
}
