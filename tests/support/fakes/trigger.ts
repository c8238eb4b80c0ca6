/**
 * The part of Trigger.dev's management API that the service calls, on loopback: the list of runs,
 * which lacks the fields of a single look-up, and the look-up, which lacks the environment.
 */
import { HttpResponse, http } from "msw";
import { type RawRun, splitForTrigger } from "../fixtures/task-runs.ts";
import { serveHandlers, type VendorServer } from "./vendor-server.ts";

export interface FakeTrigger extends VendorServer {
  /** The settings that make a server of the product use this API. */
  readonly env: Record<string, string>;
  /** Adds a run. Runs are listed newest first. */
  addRun(run: RawRun): void;
  /** Adds an item of any shape to the list, until `recover()`. */
  addItem(item: unknown): void;
  /** Keeps a value apart from its run, behind a URL, as Trigger.dev does with large ones. */
  store(runId: string, name: "payload" | "output", value: unknown): void;
}

export async function startFakeTrigger(): Promise<FakeTrigger> {
  const secretKey = "tr_test_secret_of_the_runs";
  const runs: RawRun[] = [];
  let items: unknown[] = [];
  const stored = new Map<string, unknown>();

  const server = await serveHandlers([
    http.get("/packets/*", ({ request }) => {
      const packet = stored.get(new URL(request.url).pathname);
      // A signed URL needs no key, and must not be sent ours.
      const status = request.headers.has("authorization") ? 400 : 200;
      if (packet !== undefined) return HttpResponse.json(packet as object, { status });
    }),
    http.all("*", ({ request }) => {
      const isKnown = request.headers.get("authorization") === `Bearer ${secretKey}`;
      if (!isKnown) return HttpResponse.json({}, { status: 401 });
    }),
    http.get("/api/v1/runs", ({ request }) => {
      const query = new URL(request.url).searchParams;
      const tag = query.get("filter[tag]");
      const tagged = runs
        .filter(({ tags }) => tag !== null && tags.includes(tag))
        .toSorted((one, other) => other.createdAt.localeCompare(one.createdAt))
        .map((run) => splitForTrigger(run).item);
      const data = [...items, ...tagged].slice(0, Number(query.get("page[size]")));
      return HttpResponse.json({ data: data as object[], pagination: {} });
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
    env: { TRIGGER_SECRET_KEY: secretKey, TRIGGER_API_URL: server.origin },
    addRun: (run) => void runs.push(run),
    addItem: (item) => void items.push(item),
    store: (runId, name, value) => void stored.set(`/packets/${runId}/${name}`, value),
    recover() {
      server.recover();
      items = [];
    },
  };
}
