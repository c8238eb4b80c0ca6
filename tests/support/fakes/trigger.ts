/**
 * The part of Trigger.dev's API that the SDK calls for the service, on loopback: the list of runs,
 * which lacks the fields of a single look-up, the look-up, which lacks the environment, and the
 * start of a task. After `deploy`, the tasks of the project run here instead of at Trigger.dev.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { ListRunResponse, TriggerTaskResponse } from "@trigger.dev/core/v3";
import { HttpResponse, http } from "msw";
import { z } from "zod";
import { awaitTaskRun, type Service } from "../../../trigger-dev/await-task-run.ts";
import * as tasks from "../../../trigger-dev/tasks.ts";
import { plainRun, type RawRun, type Sent, splitForTrigger } from "../fixtures/task-runs.ts";
import { queryOf, requireHeader, serveHandlers } from "./vendor-server.ts";

export type FakeTrigger = Awaited<ReturnType<typeof startFakeTrigger>>;

const order = z.object({
  payload: z.string(),
  options: z.object({
    payloadType: z.literal("application/super+json"),
    idempotencyKey: z.string(),
    tags: z.array(z.string()),
    metadata: z.record(z.string(), z.unknown()),
  }),
});
const packet = z.object({ json: z.unknown() });
const payloadOf = z.strictObject({ taskRunId: z.string() });
const deployed: readonly string[] = [
  tasks.scheduledPrompt.id,
  tasks.generateImage.id,
  tasks.generateVideo.id,
];

const WEEK_MS = 7 * 86_400_000;

export async function startFakeTrigger() {
  const secretKey = "tr_test_secret_of_the_runs";
  const runs: RawRun[] = [];
  const orders: string[] = [];
  let items: unknown[] = [];
  const stored = new Map<string, unknown>();
  let service: Service | undefined;
  let deliveries = 1;

  /** Runs the task as often as it is delivered, at the same time. */
  async function execute(run: RawRun): Promise<void> {
    const to = service;
    if (!to) return;
    Object.assign(run, { status: "EXECUTING", startedAt: new Date().toISOString() });
    const payload = payloadOf.parse(run.payload);
    const copies = Array.from({ length: deliveries }, () =>
      awaitTaskRun(to, payload, () => delay(50)),
    );
    const end = await Promise.all(copies).then(
      ([output]) => ({ status: "COMPLETED", output }),
      (error: Error) => ({
        status: "FAILED",
        error: { name: error.name, message: error.message },
      }),
    );
    Object.assign(run, end, { finishedAt: new Date().toISOString() });
  }

  const server = await serveHandlers([
    http.get("/packets/*", ({ request }) => {
      const packet = stored.get(new URL(request.url).pathname);
      // A signed URL needs no key, and must not be sent ours.
      const status = request.headers.has("authorization") ? 400 : 200;
      if (packet === undefined) return;
      const isTyped = z.object({ json: z.unknown(), meta: z.unknown() }).safeParse(packet).success;
      const type = isTyped ? "application/super+json" : "application/json";
      const headers = { "content-type": type };
      return new HttpResponse(JSON.stringify(packet), { status, headers });
    }),
    requireHeader("authorization", `Bearer ${secretKey}`, () =>
      HttpResponse.json({}, { status: 401 }),
    ),
    http.post<{ task: string }>("/api/v1/tasks/:task/trigger", async ({ request, params }) => {
      const body = await request.text();
      orders.push(body);
      if (!deployed.includes(params.task)) {
        return HttpResponse.json({ error: "Task not found" }, { status: 404 });
      }
      const { payload, options } = order.parse(JSON.parse(body));
      const { idempotencyKey, tags, metadata } = options;
      const earlier = runs.find(
        (run) => run.idempotencyKey === idempotencyKey && run.status !== "FAILED",
      );
      if (earlier)
        return HttpResponse.json({ id: earlier.id, isCached: true } satisfies TriggerTaskResponse);
      const now = new Date().toISOString();
      const run = plainRun("", {
        ...{ status: "QUEUED", taskIdentifier: params.task, createdAt: now, updatedAt: now },
        ...{ idempotencyKey, tags, metadata, payload: packet.parse(JSON.parse(payload)).json },
      });
      runs.push(run);
      void execute(run);
      return HttpResponse.json({ id: run.id, isCached: false } satisfies TriggerTaskResponse);
    }),
    http.get("/api/v1/runs", ({ request }) => {
      const query = queryOf(request);
      const { "filter[tag]": tag, "page[size]": size } = query;
      // Of one week, unless a range is asked for.
      const from = Number(query["filter[createdAt][from]"] ?? Date.now() - WEEK_MS);
      const tagged: Sent<ListRunResponse>["data"] = runs
        .filter(({ tags }) => tag !== undefined && tags.includes(tag))
        .filter(({ createdAt }) => Date.parse(createdAt) >= from)
        .toSorted((one, other) => other.createdAt.localeCompare(one.createdAt))
        .map((run) => splitForTrigger(run).item);
      const data = [...items, ...tagged].slice(0, Number(size)) as typeof tagged;
      return HttpResponse.json({ data, pagination: {} } satisfies Sent<ListRunResponse>);
    }),
    http.get<{ id: string }>("/api/v3/runs/:id", ({ request, params }) => {
      const run = runs.find(({ id }) => id === params.id);
      if (!run) return HttpResponse.json({ error: "Run not found" }, { status: 404 });
      const urls = ["payload", "output"].flatMap((name) => {
        const path = `/packets/${run.id}/${name}`;
        return stored.has(path) ? [[`${name}PresignedUrl`, new URL(path, request.url).href]] : [];
      });
      return HttpResponse.json({ ...splitForTrigger(run).single, ...Object.fromEntries(urls) });
    }),
  ]);

  return {
    ...server,
    /** The settings that make a server of the product use this API. */
    env: { TRIGGER_SECRET_KEY: secretKey, TRIGGER_API_URL: server.origin },
    /** Adds a run. Runs are listed newest first. */
    addRun: (run: RawRun) => void runs.push(run),
    /** Adds an item of any shape to the list, until `recover()`. */
    addItem: (item: unknown) => void items.push(item),
    /** Keeps a value apart from its run, behind a URL, as Trigger.dev does with large ones. */
    store: (runId: string, name: "payload" | "output", value: unknown) =>
      void stored.set(`/packets/${runId}/${name}`, value),
    /** Runs the tasks that are started from here on, so many times each; without a service none. */
    deploy(to: Service | undefined, times = 1) {
      service = to;
      deliveries = times;
    },
    /** The runs that were started for an account. */
    startedFor: (accountId: string): readonly RawRun[] =>
      runs.filter(
        (run) => run.tags.includes(`account:${accountId}`) && deployed.includes(run.taskIdentifier),
      ),
    /** The bodies of the requests that started tasks. */
    orders,
    recover() {
      server.recover();
      items = [];
    },
  };
}
