import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import postgres from "postgres";
import { afterEach, beforeEach, expect, inject, test, vi } from "vitest";
import {
  DataDirInUse,
  type Embedded,
  startEmbedded,
} from "../../../scripts/embedded/start-embedded.ts";
import { copyTemplate } from "../../support/harness/database-template.ts";
import { stillRunning } from "./processes.ts";

/** For a machine that is busy; each wait ends with the fact it waits for. */
const patience = { timeout: 100_000 };

let dataDir: string;
let running: Embedded[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "embedded-crash-"));
  copyTemplate(inject("stack").template, dataDir);
});

afterEach(async () => {
  await Promise.all(running.map((embedded) => embedded.stop()));
  running = [];
  rmSync(dataDir, { recursive: true, force: true });
});

async function start(): Promise<Embedded> {
  const embedded = await startEmbedded({ dataDir });
  running.push(embedded);
  return embedded;
}

function clientOf(embedded: Embedded): SupabaseClient {
  return createClient(embedded.supabaseUrl, embedded.supabaseSecretKey, {
    auth: { persistSession: false, autoRefreshToken: false },
  });
}

async function run(embedded: Embedded, statement: string): Promise<void> {
  const sql = postgres(embedded.databaseUrl, { max: 1, onnotice: () => {} });
  await sql.unsafe(statement).simple();
  await sql.end();
}

test.each(["postgres", "lite"] as const)(
  "every write that was acknowledged survives kill -9 of %s in the middle of writing",
  async (victim) => {
    const first = await start();
    await run(
      first,
      `create table public.kept (n int primary key);
       alter table public.kept enable row level security;
       notify pgrst`,
    );
    const client = clientOf(first);
    await vi.waitFor(
      async () => expect((await client.from("kept").select()).error).toBeNull(),
      patience,
    );

    const acknowledged: number[] = [];
    let broken = false;
    const writers = Array.from({ length: 8 }, async (_, w) => {
      for (let i = 0; !broken; i++) {
        const n = w * 1_000_000 + i;
        const { error } = await client.from("kept").insert({ n });
        if (error === null) acknowledged.push(n);
        else broken = true;
      }
    });
    await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(200), patience);
    process.kill(first.pids[victim], "SIGKILL");
    expect(await first.died).toContain("exited unexpectedly");
    await Promise.all(writers);
    await first.stop();

    const second = await start();
    const sql = postgres(second.databaseUrl, { max: 1 });
    const rows = await sql<{ n: number }[]>`select n from public.kept`;
    await sql.end();
    const kept = new Set(rows.map((row) => row.n));
    expect(acknowledged.filter((n) => !kept.has(n))).toEqual([]);
  },
);

test("after PostgreSQL has thrown out every connection, requests are answered again", async () => {
  const embedded = await start();
  await run(
    embedded,
    `create table public.kept (n int);
     alter table public.kept enable row level security;
     create function public.keep(n int) returns void language sql
     as $$ insert into public.kept values (n) $$;
     grant execute on function public.keep to service_role;
     notify pgrst`,
  );
  const client = clientOf(embedded);
  await vi.waitFor(async () => {
    expect((await client.rpc("keep", { n: 0 })).error).toBeNull();
    expect((await client.from("kept").select()).error).toBeNull();
  }, patience);
  for (let round = 0; round < 2; round++) {
    const refusals: number[] = [];
    let busy = true;
    const callers = Array.from({ length: 16 }, async (_, i) => {
      while (busy) {
        const { status, error } =
          i % 2 === 0
            ? await client.from("kept").insert({ n: i }).abortSignal(AbortSignal.timeout(5_000))
            : await client.rpc("keep", { n: i }).abortSignal(AbortSignal.timeout(5_000));
        if (error !== null) refusals.push(status);
      }
    });
    // One backend that dies badly makes PostgreSQL end all others and recover.
    const ended = Promise.withResolvers<void>();
    const other = postgres(embedded.databaseUrl, { max: 1, onclose: () => ended.resolve() });
    await other`select 1`;
    const sql = postgres(embedded.databaseUrl, { max: 1, onnotice: () => {} });
    const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    if (backend !== undefined) process.kill(backend.pid, "SIGKILL");
    await vi.waitFor(() => expect(refusals.length).toBeGreaterThan(0), patience);
    // From here on, an answer comes from a database that has recovered.
    await ended.promise;
    await vi.waitFor(async () => {
      // The server can lose this request, too.
      const asked = client.from("kept").select().limit(1);
      const { error } = await asked.abortSignal(AbortSignal.timeout(5_000));
      expect(error).toBeNull();
    }, patience);
    busy = false;
    await Promise.all(callers);
    // 0 is a client's own deadline: the server can lose a request that it was answering.
    expect(refusals.filter((status) => status !== 503 && status !== 0)).toEqual([]);
    await Promise.all([sql.end({ timeout: 1 }), other.end({ timeout: 1 })]);
    // A connection that was asked for during the recovery may be refused only now.
    await vi.waitFor(async () => {
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, i) =>
          (i % 2 === 0
            ? client.from("kept").select().limit(1)
            : client.rpc("keep", { n: i })
          ).abortSignal(AbortSignal.timeout(5_000)),
        ),
      );
      expect(answers.filter(({ error }) => error !== null)).toEqual([]);
    }, patience);
  }
});

test("when the supervisor is killed with -9, its PostgreSQL and REST server end with it", async () => {
  const pids = await startAndKillSupervisor();
  await vi.waitFor(() => expect(stillRunning(pids)).toEqual([]), patience);
  // And the next start finds the data in order.
  const next = await start();
  expect((await clientOf(next).from("accounts").select("id")).error).toBeNull();
});

test("a start right after a killed supervisor takes over from what it left running", async () => {
  const pids = await startAndKillSupervisor();
  const next = await start();
  expect((await clientOf(next).from("accounts").select("id")).error).toBeNull();
  await vi.waitFor(() => expect(stillRunning(pids)).toEqual([]), patience);
});

test("a lock file that names a stranger's process does not hinder, nor harm the stranger", async () => {
  const first = await start();
  const lockFile = join(dataDir, "postgres", "postmaster.pid");
  const lines = readFileSync(lockFile, "utf8").split("\n");
  await first.stop();
  const stranger = spawn("sleep", ["600"]);
  try {
    writeFileSync(lockFile, [String(stranger.pid), ...lines.slice(1)].join("\n"));
    const second = await start();
    expect((await clientOf(second).from("accounts").select("id")).error).toBeNull();
    expect(stillRunning([stranger.pid ?? 0])).toHaveLength(1);
  } finally {
    stranger.kill("SIGKILL");
  }
});

test("a second start on the same directory is refused and says by whom it is held", async () => {
  await start();
  const second = startEmbedded({ dataDir });
  await expect(second).rejects.toThrow(DataDirInUse);
  await expect(second).rejects.toThrow(String(process.pid));
});

test("keys stay the same from start to start, and only their owner can read them", async () => {
  const first = await start();
  await first.stop();
  const second = await start();
  expect(second.supabaseSecretKey).toBe(first.supabaseSecretKey);
  expect(second.supabaseJwtSecret).toBe(first.supabaseJwtSecret);
  expect(second.apiKeySecret).toBe(first.apiKeySecret);
  expect(statSync(join(dataDir, "secrets.json")).mode & 0o777).toBe(0o600);
});

test("PostgreSQL listens on loopback only", async () => {
  const embedded = await start();
  const sql = postgres(embedded.databaseUrl, { max: 1 });
  const [row] = await sql`
    select current_setting('listen_addresses') as addresses, current_setting('fsync') as fsync,
           current_setting('unix_socket_directories') as sockets`;
  await sql.end();
  expect(row).toEqual({ addresses: "127.0.0.1", fsync: "on", sockets: "" });
});

/** @returns the processes that ran under the supervisor. */
async function startAndKillSupervisor(): Promise<number[]> {
  const program = `
    const { startEmbedded } = await import(${JSON.stringify(join(import.meta.dirname, "../../../scripts/embedded/start-embedded.ts"))});
    const { pids } = await startEmbedded({ dataDir: ${JSON.stringify(dataDir)} });
    console.log(JSON.stringify(Object.values(pids)));
    setInterval(() => {}, 1000);`;
  const supervisor = spawn(process.execPath, ["--input-type=module", "-e", program], {
    cwd: join(import.meta.dirname, "../../.."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const pids = await new Promise<number[]>((resolve, reject) => {
    supervisor.once("exit", (code) => reject(new Error(`The supervisor ended (${code}).`)));
    supervisor.stdout.once("data", (line: Buffer) => resolve(JSON.parse(line.toString())));
  });
  supervisor.removeAllListeners("exit");
  supervisor.kill("SIGKILL");
  await vi.waitFor(() => expect(stillRunning([supervisor.pid ?? 0])).toEqual([]), patience);
  return pids;
}
