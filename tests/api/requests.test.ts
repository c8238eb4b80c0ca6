import { randomUUID } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { loggedRequest } from "../../lib/requests/contract.ts";
import { RequestLog } from "../../lib/requests/request-log.ts";
import { startImageHost } from "../support/fakes/image-host.ts";
import { type Client, client, createPerson, type Person } from "../support/harness/clients.ts";
import { createRunCredential } from "../support/harness/run-credentials.ts";
import { startServer } from "../support/harness/server.ts";
import { sql, stack } from "../support/harness/stack.ts";

// The collection is a part of the server, and runs here in the process of the test, too.
for (const [name, value] of Object.entries(stack.env)) vi.stubEnv(name, value);

const page = z.strictObject({
  status: z.literal("success"),
  requests: z.array(z.strictObject(loggedRequest.shape)),
  next_cursor: z.string().nullable(),
});

async function readPage(caller: Client, query = "") {
  const answer = await caller.get(`/api/requests${query}`);
  expect(answer.status, answer.text).toBe(200);
  return { ...page.parse(answer.body), link: answer.headers.get("link") };
}

/** Stores requests a second apart, the last of them newest. */
async function storeRequests(
  { id }: Person,
  requests: readonly { status?: number; route?: string; apiKeyId?: string }[],
): Promise<void> {
  for (const [place, { status = 200, route = "/api/keys", apiKeyId }] of requests.entries()) {
    await sql`insert into requests (account_id, method, route, status, duration_ms, credential,
        api_key_id, request_id, created_at)
      values (${id}, 'GET', ${route}, ${status}, 1.5, ${apiKeyId ? "api_key" : "bearer"},
        ${apiKeyId ?? null}, ${`r${place}`}, now() - make_interval(hours => ${requests.length - place}))`;
  }
}

const idsOf = ({ requests }: { requests: readonly { request_id: string }[] }) =>
  requests.map(({ request_id }) => request_id).filter((id) => /^r\d+$/.test(id));

describe("GET /api/requests 200", () => {
  test("has each request with its credential and without what it said", async () => {
    const person = await createPerson();
    const run = await createRunCredential(person.id, "key");
    const requestId = `own-${randomUUID()}`;
    const headers = { "x-request-id": requestId };
    const secretTitle = randomUUID();
    await person.withKey.post("/api/sessions", { title: secretTitle }, { headers });
    await person.withBearer.get(`/api/sessions/${randomUUID()}?q=${secretTitle}`, { headers });
    await client({ key: run.raw }).post("/api/keys", { key_name: secretTitle }, { headers });
    const own = async () =>
      (await readPage(person.withBearer)).requests.filter((one) => one.request_id === requestId);
    await expect.poll(async () => (await own()).length).toBe(3);
    const [third, second, first] = await own();
    const [key] =
      await sql`select id from api_keys where account_id = ${person.id} and scope <> 'run'`;
    expect([first, second, third]).toMatchObject([
      {
        method: "POST",
        route: "/api/sessions",
        status: 201,
        credential: "api_key",
        api_key_id: key?.id,
      },
      {
        method: "GET",
        route: "/api/sessions/{sessionId}",
        status: 404,
        credential: "bearer",
        api_key_id: null,
      },
      { method: "POST", route: "/api/keys", status: 403, credential: "run", api_key_id: null },
    ]);
    const stored = await sql`select to_jsonb(r)::text as row from requests r
      where account_id = ${person.id}`;
    expect(stored.map(({ row }) => row).join()).not.toContain(secretTitle);
  });

  test("pages, newest first, of a class of statuses, an endpoint and a key", async () => {
    const person = await createPerson();
    const apiKeyId = randomUUID();
    await storeRequests(person, [
      { status: 500 },
      { route: "/api/models" },
      { apiKeyId, status: 404 },
      { apiKeyId },
      {},
    ]);
    const seen: string[] = [];
    let query = "?limit=2";
    for (;;) {
      const found = await readPage(person.withKey, query);
      seen.push(...idsOf(found));
      if (found.next_cursor === null) break;
      expect(found.link).toContain("/api/requests?limit=2&cursor=");
      query = `?limit=2&cursor=${found.next_cursor}`;
    }
    expect(seen).toEqual(["r4", "r3", "r2", "r1", "r0"]);
    for (const [filter, ids] of [
      ["status=5xx", ["r0"]],
      ["status=4xx", ["r2"]],
      ["status=2xx", ["r4", "r3", "r1"]],
      ["route=/api/models", ["r1"]],
      ["credential=api_key&route=/api/keys&status=2xx", ["r3"]],
      [`api_key_id=${apiKeyId}`, ["r3", "r2"]],
      [`api_key_id=${apiKeyId}&status=4xx`, ["r2"]],
    ] as const) {
      expect(idsOf(await readPage(person.withKey, `?${filter}`))).toEqual(ids);
    }
  });
});

describe("the collection of requests", () => {
  const requestOf = (id: string) => ({
    account_id: randomUUID(),
    method: "GET",
    route: "/api/keys",
    status: 200,
    duration_ms: 1,
    credential: "bearer" as const,
    api_key_id: null,
    request_id: id,
    created_at: new Date().toISOString(),
  });

  test("keeps its order over a failure, and is bounded while the database is away", async () => {
    const stored: string[] = [];
    let isAway = true;
    const requests = new RequestLog(async (batch) => {
      if (isAway) throw new Error("away");
      stored.push(...batch.map(({ request_id }) => request_id));
    });
    for (let index = 0; index < 10_100; index++) requests.record(requestOf(String(index)));
    await requests.flush();
    expect(stored).toEqual([]);
    isAway = false;
    await requests.flush();
    expect(stored).toEqual(Array.from({ length: 10_000 }, (_, index) => String(index)));
    requests.record(requestOf("later"));
    await requests.flush();
    expect(stored.at(-1)).toBe("later");
  });

  test("is stored before the server exits, with requests that end while it drains", async () => {
    const host = await startImageHost();
    const server = await startServer({
      env: { LOOPBACK_URLS: "media,webhooks", DRAIN_SECONDS: "120" },
    });
    try {
      const { id, key } = await createPerson();
      const release = host.hold();
      const query = new URLSearchParams({ url: host.serve(Buffer.from("no image")) });
      const asked = client({ key }, server.url).get(`/api/media/proxy?${query}`);
      await expect.poll(() => host.requests.length).toBe(1);
      server.kill("SIGTERM");
      const isAccepted = () =>
        fetch(`${server.url}/api/health`).then(
          () => true,
          () => false,
        );
      await expect.poll(isAccepted).toBe(false);
      release();
      expect((await asked).status).toBe(502);
      await server.died;
      const stored = await sql`select route from requests where account_id = ${id}`;
      expect(stored.map(({ route }) => route)).toEqual(["/api/media/proxy"]);
    } finally {
      await server.stop();
      await host.close();
    }
  });

  test("is stored once a flush resolves, even by an earlier one", async () => {
    const { promise: isBack, resolve: comeBack } = Promise.withResolvers<void>();
    const stored: string[] = [];
    const requests = new RequestLog(async (batch) => {
      await isBack;
      stored.push(...batch.map(({ request_id }) => request_id));
    });
    requests.record(requestOf("first"));
    void requests.flush();
    const storedAtEnd = requests.flush().then(() => [...stored]);
    // Promises that do not wait for the database have resolved by then.
    await new Promise(setImmediate);
    comeBack();
    expect(await storedAtEnd).toEqual(["first"]);
  });
});
