import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
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

/** A start takes longer than all that a test does with it, so tests of a group go on with one data directory. */
function useOneDataDir(): void {
  beforeAll(() => {
    dataDir = mkdtempSync(join(tmpdir(), "embedded-crash-"));
    copyTemplate(inject("stack").template, dataDir);
  });
  afterAll(async () => {
    await Promise.all(running.map((embedded) => embedded.stop()));
    running = [];
    rmSync(dataDir, { recursive: true, force: true });
  });
}

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

describe("requests and writes", () => {
  let embedded: Embedded;
  let client: SupabaseClient;
  useOneDataDir();

  beforeAll(async () => {
    embedded = await start();
    await run(
      embedded,
      `create table public.kept (n int primary key);
       alter table public.kept enable row level security;
       create table public.called (n int);
       alter table public.called enable row level security;
       create function public.call(n int) returns void language sql
       as $$ insert into public.called values (n) $$;
       grant execute on function public.call to service_role;
       notify pgrst`,
    );
    client = clientOf(embedded);
    await vi.waitFor(async () => {
      expect((await client.rpc("call", { n: 0 })).error).toBeNull();
      expect((await client.from("called").select()).error).toBeNull();
      expect((await client.from("kept").select()).error).toBeNull();
    }, patience);
  });

  test("are answered again after PostgreSQL has thrown out every connection", async () => {
    for (let round = 0; round < 2; round++) {
      const refusals: number[] = [];
      let busy = true;
      const callers = Array.from({ length: 16 }, async (_, i) => {
        while (busy) {
          const { status, error } =
            i % 2 === 0
              ? await client.from("called").insert({ n: i }).abortSignal(AbortSignal.timeout(5_000))
              : await client.rpc("call", { n: i }).abortSignal(AbortSignal.timeout(5_000));
          if (error !== null) refusals.push(status);
          // From the first refusal on, requests need only go on: some are answered late, or never.
          if (refusals.length > 0) await delay(50);
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
        const asked = client.from("called").select().limit(1);
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
              ? client.from("called").select().limit(1)
              : client.rpc("call", { n: i })
            ).abortSignal(AbortSignal.timeout(5_000)),
          ),
        );
        expect(answers.filter(({ error }) => error !== null)).toEqual([]);
      }, patience);
    }
  });

  test.each(["postgres", "lite"] as const)(
    "that were acknowledged survive kill -9 of %s in the middle of writing",
    async (victim) => {
      const acknowledged: number[] = [];
      let broken = false;
      const from = victim === "postgres" ? 0 : 100_000_000;
      const writers = Array.from({ length: 8 }, async (_, w) => {
        for (let i = 0; !broken; i++) {
          const n = from + w * 1_000_000 + i;
          const { error } = await client.from("kept").insert({ n });
          if (error === null) acknowledged.push(n);
          else broken = true;
        }
      });
      await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(200), patience);
      process.kill(embedded.pids[victim], "SIGKILL");
      expect(await embedded.died).toContain("exited unexpectedly");
      await Promise.all(writers);
      await embedded.stop();

      embedded = await start();
      client = clientOf(embedded);
      const sql = postgres(embedded.databaseUrl, { max: 1 });
      const rows = await sql<{ n: number }[]>`select n from public.kept`;
      await sql.end();
      const kept = new Set(rows.map((row) => row.n));
      expect(acknowledged.filter((n) => !kept.has(n))).toEqual([]);
    },
  );
});

describe("when the supervisor is killed with -9", () => {
  useOneDataDir();

  test("its PostgreSQL and REST server end with it", async () => {
    const pids = await startAndKillSupervisor();
    await vi.waitFor(() => expect(stillRunning(pids)).toEqual([]), patience);
  });

  test("the next start finds the data in order, and one right after a kill takes over from what is left", async () => {
    // This supervisor starts on the state left by the previous one.
    const pids = await startAndKillSupervisor();
    const next = await start();
    expect((await clientOf(next).from("accounts").select("id")).error).toBeNull();
    await vi.waitFor(() => expect(stillRunning(pids)).toEqual([]), patience);
  });
});

describe("a data directory", () => {
  let first: Embedded;
  useOneDataDir();
  beforeAll(async () => {
    first = await start();
  });

  test("has a PostgreSQL that listens on loopback only", async () => {
    const sql = postgres(first.databaseUrl, { max: 1 });
    const [row] = await sql`
      select current_setting('listen_addresses') as addresses, current_setting('fsync') as fsync,
             current_setting('unix_socket_directories') as sockets`;
    await sql.end();
    expect(row).toEqual({ addresses: "127.0.0.1", fsync: "on", sockets: "" });
  });

  test("is refused to a second start, which says by whom it is held", async () => {
    const second = startEmbedded({ dataDir });
    await expect(second).rejects.toThrow(DataDirInUse);
    await expect(second).rejects.toThrow(String(process.pid));
  });

  test("with a lock file that names a stranger's process starts, with the keys that only its owner can read", async () => {
    const lockFile = join(dataDir, "postgres", "postmaster.pid");
    const lines = readFileSync(lockFile, "utf8").split("\n");
    await first.stop();
    const stranger = spawn("sleep", ["600"]);
    try {
      writeFileSync(lockFile, [String(stranger.pid), ...lines.slice(1)].join("\n"));
      const second = await start();
      expect((await clientOf(second).from("accounts").select("id")).error).toBeNull();
      expect(stillRunning([stranger.pid ?? 0])).toHaveLength(1);
      expect(second.supabaseSecretKey).toBe(first.supabaseSecretKey);
      expect(second.supabaseJwtSecret).toBe(first.supabaseJwtSecret);
      expect(second.apiKeySecret).toBe(first.apiKeySecret);
      expect(statSync(join(dataDir, "secrets.json")).mode & 0o777).toBe(0o600);
    } finally {
      stranger.kill("SIGKILL");
    }
  });
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
