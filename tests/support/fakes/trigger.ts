/**
 * The part of Trigger.dev's management API that the service calls, on loopback: the list of runs,
 * which lacks the fields of a single look-up, and the look-up, which lacks the environment.
 */
import { HttpResponse, http } from "msw";
import { type RawRun, splitForTrigger } from "../fixtures/task-runs.ts";
import { queryOf, requireHeader, serveHandlers } from "./vendor-server.ts";

export type FakeTrigger = Awaited<ReturnType<typeof startFakeTrigger>>;

export async function startFakeTrigger() {
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
    requireHeader("authorization", `Bearer ${secretKey}`, () =>
      HttpResponse.json({}, { status: 401 }),
    ),
    http.get("/api/v1/runs", ({ request }) => {
      const { "filter[tag]": tag, "page[size]": size } = queryOf(request);
      const tagged = runs
        .filter(({ tags }) => tag !== undefined && tags.includes(tag))
        .toSorted((one, other) => other.createdAt.localeCompare(one.createdAt))
        .map((run) => splitForTrigger(run).item);
      const data = [...items, ...tagged].slice(0, Number(size));
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
    /** The settings that make a server of the product use this API. */
    env: { TRIGGER_SECRET_KEY: secretKey, TRIGGER_API_URL: server.origin },
    /** Adds a run. Runs are listed newest first. */
    addRun: (run: RawRun) => void runs.push(run),
    /** Adds an item of any shape to the list, until `recover()`. */
    addItem: (item: unknown) => void items.push(item),
    /** Keeps a value apart from its run, behind a URL, as Trigger.dev does with large ones. */
    store: (runId: string, name: "payload" | "output", value: unknown) =>
      void stored.set(`/packets/${runId}/${name}`, value),
    recover() {
      server.recover();
      items = [];
    },
  };
}
