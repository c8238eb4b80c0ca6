/** PostgreSQL is read-only, full, out of connections, restarted or behind another password, and then works again. */
import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { gate } from "../support/fakes/openai.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { type Client, client } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { clientAt, startWorkspace, type Workspace } from "../support/harness/workspace.ts";
import { effectsOf, expectSurvived, STEPS, sixSteps } from "./six-steps.ts";

let workspace: Workspace;
let caller: Client;
/** A session that outlives the outages that refuse new ones. */
let admin: postgres.Sql;
beforeAll(async () => {
  workspace = await startWorkspace();
  caller = await workspace.createCaller();
  admin = connect(1);
  await admin`select 1`;
});
afterAll(async () => {
  await admin?.end();
  await workspace?.stop();
});

const connect = (max: number) =>
  postgres(workspace.env.DATABASE_URL ?? "", { max, onnotice: () => {}, connect_timeout: 30 });

const readiness = z.object({ parts: z.array(z.object({ name: z.string(), ready: z.boolean() })) });

/** Returns the parts that are not ready. */
async function unready(url = workspace.server.url): Promise<string[]> {
  const { body } = await client(null, url).get("/api/health/ready");
  return readiness.parse(body).parts.flatMap(({ name, ready }) => (ready ? [] : [name]));
}

const write = () => caller.post("/api/sessions", { title: "An outage" });

async function expectOutage(): Promise<void> {
  await expect.poll(() => unready(), { timeout: 30_000 }).toContain("database");
  expect(await unready()).toContain("durableRuns");
  const answer = await write();
  expectError(answer, 503, "error", "Service temporarily unavailable", "unavailable");
  expect(answer.headers.get("retry-after")).toBe("1");
  expect(await askAll()).toEqual([]);
}

type Request = readonly [method: string, path: string, body?: object];

/** Of each kind one: in the formats of the API, of chats, of MCP and of Supabase Auth. */
const requests: readonly Request[] = [
  ["GET", "/api/sessions"],
  ["GET", "/api/usage"],
  ["GET", "/api/chats?q=word"],
  ["POST", "/api/keys", { key_name: "An outage" }],
  ["POST", "/api/chat/runs", { prompt: "An outage" }],
  ["POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" }],
  ["POST", "/auth/v1/otp", { email: "outage@example.com" }],
  ["POST", "/auth/v1/verify", { email: "outage@example.com", token: "123456", type: "email" }],
  ["POST", "/auth/v1/token?grant_type=refresh_token", { refresh_token: "of-no-one" }],
];

/** Returns the responses that are neither successful nor a 503 with `retry-after`. */
async function askAll(): Promise<string[]> {
  const answers = requests.map(async ([method, path, body]) => {
    const { status, headers } = await caller.request(method, path, body ? { body } : {});
    const isExpected = status === 503 ? headers.get("retry-after") === "1" : status < 500;
    return isExpected ? [] : [`${method} ${path}: ${status}`];
  });
  return (await Promise.all(answers)).flat();
}

async function expectRecovery(): Promise<void> {
  await expect.poll(() => unready(), { timeout: 60_000, interval: 200 }).toEqual([]);
  expect((await write()).status).toBe(201);
  // The REST part has not ended, and answers as well.
  await expect.poll(() => rest().catch(() => 0), { timeout: 30_000 }).toBe(200);
}

/** Returns the status of a call over REST. */
async function rest(): Promise<number> {
  const { SUPABASE_URL = "", SUPABASE_SECRET_KEY: apikey = "" } = workspace.env;
  const url = `${SUPABASE_URL}/rest/v1/rpc/record_requests`;
  const headers = { apikey, "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: '{"p_requests":[]}' });
  return answer.status === 204 ? 200 : answer.status;
}

const setReadOnly = async (value: "on" | "off") => {
  await admin.unsafe("set default_transaction_read_only = off");
  await admin.unsafe(`alter system set default_transaction_read_only = ${value}`);
  await admin`select pg_reload_conf()`;
};
/** Ends the sessions of the server, which have to connect again. */
const endSessions = () => admin`
  select pg_terminate_backend(pid) from pg_stat_activity
  where backend_type = 'client backend' and pid <> pg_backend_pid()`;

interface Outage {
  begin(): Promise<unknown>;
  end(): Promise<unknown>;
}
const password = () => decodeURIComponent(new URL(workspace.env.DATABASE_URL ?? "").password);

/** Takes every free connection of PostgreSQL, and then the server's. */
async function takeConnections(taken: pg.Client[]): Promise<void> {
  const take = async () => {
    for (;;) {
      const one = new pg.Client({
        connectionString: workspace.env.DATABASE_URL,
        application_name: "taker",
      });
      one.on("error", () => {});
      try {
        await one.connect();
      } catch {
        return;
      }
      taken.push(one);
    }
  };
  const left = async () => {
    await Promise.all(Array.from({ length: 8 }, take));
    const ended = await admin`
      select pg_terminate_backend(pid) from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid()
        and application_name <> 'taker'`;
    await Promise.all(Array.from({ length: 8 }, take));
    return ended.length;
  };
  await expect.poll(left, { timeout: 30_000, interval: 0 }).toBe(0);
}

const outages: Record<string, () => Outage> = {
  "read-only": () => ({ begin: () => setReadOnly("on"), end: () => setReadOnly("off") }),
  "read-only with new connections": () => ({
    begin: async () => {
      await setReadOnly("on");
      await endSessions();
    },
    end: () => setReadOnly("off"),
  }),
  "behind another password": () => ({
    begin: async () => {
      await admin.unsafe("alter role postgres password 'changed'");
      await endSessions();
    },
    end: () => admin.unsafe(`alter role postgres password '${password()}'`),
  }),
  "out of connections": () => {
    const taken: pg.Client[] = [];
    return {
      begin: () => takeConnections(taken),
      end: () => Promise.all(taken.map((one) => one.end())),
    };
  },
};

describe.each(Object.keys(outages))("a database that is %s", (name) => {
  it("is 503 with retry-after and not ready, and everything works again afterwards", async () => {
    const outage = outages[name]?.() ?? expect.unreachable();
    await outage.begin();
    try {
      await expectOutage();
    } finally {
      await outage.end();
    }
    await expectRecovery();
    expect(workspace.server.logs()).not.toMatch(/unhandled|"status":500/i);
  }, 120_000);
});

it("a database that restarts is back without a restart of the server", async () => {
  const victim = connect(1);
  const [backend] = await victim`select pg_backend_pid() as pid`;
  // PostgreSQL ends all sessions and recovers.
  process.kill(Number(backend?.pid), "SIGKILL");
  await victim.end({ timeout: 0 });
  const answers = await Promise.all(Array.from({ length: 20 }, write));
  for (const { status } of answers) expect([201, 503]).toContain(status);
  await expectRecovery();
});

it("a turn goes on after a read-only phase in the middle of it", async () => {
  const pause = { step: 3, where: "called", gate: gate() } as const;
  const last = gate();
  workspace.model.script("read-only", sixSteps(pause, last));
  const conversation = await openConversation(caller);
  const stream = await conversation.send("[script:read-only]");
  await pause.gate.reached;
  await setReadOnly("on");
  const logged = workspace.server.logs().length;
  pause.gate.open();
  await expect
    .poll(() => workspace.server.logs().slice(logged), { timeout: 30_000 })
    .toContain("did not answer");
  expect(stream.isDone).toBe(false);
  await setReadOnly("off");
  last.open();
  const frames = await stream.ended;
  expect(stream.isDone).toBe(true);
  await expectSurvived(workspace, { conversation, before: [], after: frames });
  expect(new Set(await effectsOf(workspace, conversation)).size).toBe(STEPS);
}, 120_000);

it("a server that starts while the database is read-only is not ready until it is writable", async () => {
  await setReadOnly("on");
  const server = await workspace.startServer();
  expect(await unready(server.url)).toEqual(["database", "durableRuns"]);
  const refused = await clientAt(server.url, caller).post("/api/sessions", { title: "An outage" });
  expect(refused.status).toBe(503);
  expect((await client(null, server.url).get("/api/health")).status).toBe(200);
  await setReadOnly("off");
  await expect.poll(() => unready(server.url), { timeout: 30_000 }).toEqual([]);
  await server.stop();
}, 120_000);

it("PostgreSQL ends the statement of a request for which no one waits any more", async () => {
  const blocker = connect(1);
  const held = Promise.withResolvers<void>();
  const holding = blocker.begin(async (tx) => {
    await tx`lock table sessions in access exclusive mode`;
    await held.promise;
  });
  await expect
    .poll(() => admin`select from pg_locks where mode = 'AccessExclusiveLock' and granted`)
    .not.toHaveLength(0);
  const answer = await write();
  expect(answer.status).toBe(503);
  expect(answer.headers.get("retry-after")).toBe("1");
  const waiting = () => admin`
    select from pg_stat_activity where wait_event_type = 'Lock' and query like '%session%'`;
  expect(await waiting()).toHaveLength(0);
  held.resolve();
  await holding;
  await blocker.end();
}, 60_000);
