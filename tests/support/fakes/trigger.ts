/**
 * The part of Trigger.dev's management API that the service asks, on loopback: the list of runs,
 * which lacks what only the single look-up tells, and the look-up, which lacks the environment.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type RawRun, splitForTrigger } from "../fixtures/task-runs.ts";

export interface FakeTrigger {
  readonly url: string;
  readonly secretKey: string;
  /** Runs are listed in the order of their creation, the newest first. */
  feed(run: RawRun): void;
  /** Listed as it is, and looked up as it is. */
  feedBroken(id: string, item: unknown): void;
  /** Kept apart from the run, behind an address, as large ones are. */
  store(runId: string, name: "payload" | "output", value: unknown): void;
  /** Until `recover`, this answers in the API's place: all of it, or only the look-ups. */
  fail(answer: (response: ServerResponse) => void, which?: "all" | "look-ups"): void;
  recover(): void;
  /** Paths that were asked for. */
  asked: string[];
  close(): void;
}

export async function startFakeTrigger(): Promise<FakeTrigger> {
  const secretKey = "tr_test_secret_of_the_runs";
  const runs: RawRun[] = [];
  const broken = new Map<string, unknown>();
  const stored = new Map<string, unknown>();
  const asked: string[] = [];
  let failure: { answer: (response: ServerResponse) => void; which: string } | undefined;

  const server = createServer((request, response) => handle(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const url = `http://127.0.0.1:${address.port}`;

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const asksFor = new URL(request.url ?? "/", url);
    asked.push(asksFor.pathname);
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

    const packet = stored.get(asksFor.pathname);
    // A signed address needs no key, and must not be shown ours.
    if (packet !== undefined) return void send(request.headers.authorization ? 400 : 200, packet);
    if (request.headers.authorization !== `Bearer ${secretKey}`) return void send(401, {});
    const runId = /^\/api\/v3\/runs\/([^/]+)$/.exec(asksFor.pathname)?.[1];
    if (failure && (failure.which === "all" || runId)) return void failure.answer(response);

    if (asksFor.pathname === "/api/v1/runs") {
      const tag = asksFor.searchParams.get("filter[tag]");
      const size = Number(asksFor.searchParams.get("page[size]"));
      const tagged = runs
        .filter(({ tags }) => tag !== null && tags.includes(tag))
        .toSorted((one, other) => other.createdAt.localeCompare(one.createdAt));
      const items = tagged.map((run) => splitForTrigger(run).item);
      return void send(200, {
        data: [...broken.values(), ...items].slice(0, size),
        pagination: {},
      });
    }
    const run = runs.find(({ id }) => id === runId);
    if (!run) return void send(404, { error: "Run not found" });
    const urls = ["payload", "output"].flatMap((name) =>
      stored.has(`/packets/${run.id}/${name}`)
        ? [[`${name}PresignedUrl`, `${url}/packets/${run.id}/${name}`]]
        : [],
    );
    send(200, { ...splitForTrigger(run).single, ...Object.fromEntries(urls) });
  }

  return {
    url,
    secretKey,
    feed: (run) => void runs.push(run),
    feedBroken: (id, item) => void broken.set(id, item),
    store: (runId, name, value) => void stored.set(`/packets/${runId}/${name}`, value),
    fail: (answer, which = "all") => {
      failure = { answer, which };
    },
    recover() {
      failure = undefined;
      broken.clear();
    },
    asked,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
