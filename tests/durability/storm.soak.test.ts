/**
 * Three instances of two processes with many turns at once. Every few seconds one instance is killed, PostgreSQL
 * crashes or is read-only for a while, or the pooler in front of it restarts, where one is installed; then all instances are restarted one after another by SIGTERM. Nothing may be
 * lost, repeated or stuck. Prints how long streams were silent after each kind of event.
 *
 * This file is long because load, events, checks and report are one measurement. `STORM_TURNS`, `STORM_SECONDS` and `STORM_KILL_MS` change the load.
 */
import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../scripts/free-port.ts";
import type { RunningNext } from "../../scripts/run-next.ts";
import type { Client } from "../support/harness/clients.ts";
import { type Conversation, openConversation } from "../support/harness/conversation.ts";
import { startPgBouncer, withoutPgBouncer } from "../support/harness/pgbouncer.ts";
import {
  assemble,
  expectCompleteTurn,
  type Frame,
  type TurnStream,
} from "../support/harness/turn-stream.ts";
import { clientAt, startWorkspace, type Workspace } from "../support/harness/workspace.ts";
import { effectsOf, logOf } from "./six-steps.ts";

const TURNS = Number(process.env.STORM_TURNS ?? 200);
const SECONDS = Number(process.env.STORM_SECONDS ?? 120);
const KILL_MS = Number(process.env.STORM_KILL_MS ?? 5_000);
const INSTANCES = 3;
const PROCESSES = 2;
const ACCOUNTS = 20;
/** A turn is this many steps, each of some deltas with pauses and a command. */
const STEPS = 4;
const DELTAS = 10;
const DELTA_MS = 100;
/** A request that finds no server is repeated after this pause. */
const RETRY_MS = 50;
const READ_ONLY_MS = 3_000;
/** How long after an event a silence counts as its consequence. */
const AFTERMATH_MS = 4_500;

let workspace: Workspace;
/** Can write although the database is read-only for others. */
let admin: postgres.Sql;
let pooler: Awaited<ReturnType<typeof startPgBouncer>> | undefined;
const ports: number[] = [];
const instances: RunningNext[] = [];
beforeAll(async () => {
  const poolerOf = async (url: string) => {
    pooler ??= await startPgBouncer(url, { max_client_conn: 500, default_pool_size: 80 });
    return { DATABASE_URL: pooler.url };
  };
  workspace = await startWorkspace(async ({ DATABASE_URL = "" }) => ({
    ...(withoutPgBouncer ? {} : await poolerOf(DATABASE_URL)),
    ACCOUNT_ACTIVE_TURNS: "0",
    ACCOUNT_RATE_LIMIT: "0",
    ADDRESS_RATE_LIMIT: "0",
    TEST_CONSTANTS: '{"ACCOUNT_STREAMS":2000}',
    MODEL_CALLS_AT_ONCE: "1000",
    LOG_LEVEL: "error",
  }));
  admin = postgres(workspace.env.DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
  await workspace.server.stop();
  for (let n = 0; n < INSTANCES; n++) ports.push(await freePort());
  for (const [n] of ports.entries()) await startInstance(n);
  workspace.model.script("storm", async function* ({ step }) {
    for (let n = 0; n < DELTAS; n++) {
      await delay(DELTA_MS);
      yield { text: `${step}.${n} ` };
    }
    if (step < STEPS) yield { tool: "bash", input: { command: `echo ${step} >> effects` } };
  });
}, 300_000);
afterAll(async () => {
  await admin.end();
  await workspace.stop();
  await pooler?.close();
});

async function startInstance(n: number): Promise<void> {
  const port = ports[n] ?? 0;
  instances[n] = await workspace.startServer({ port, processes: PROCESSES });
}

interface Turn {
  /** When each chunk came, in milliseconds since the start of the process. */
  readonly times: number[];
}
const KINDS = [
  "kill",
  "crash of the database",
  "read-only phase",
  ...(withoutPgBouncer ? [] : ["restart of the pooler"]),
  "drain",
];
interface Event {
  readonly kind: string;
  readonly at: number;
}
const turns: Turn[] = [];
const events: Event[] = [];
let resumes = 0;

/** Whether a server has refused the request for now, and clients are expected to retry. */
const isBusy = (error: unknown): boolean => error instanceof Error && /\b503 /.test(error.message);

/** Repeats a look at the database until that has recovered. */
async function seen<T>(look: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (error instanceof Error && error.name === "AssertionError") throw error;
      await delay(RETRY_MS);
    }
  }
}

/** PostgreSQL takes its memory for damaged, ends all sessions and recovers from its log. */
async function crashDatabase(): Promise<void> {
  const [backend] = await seen(() => admin`select pg_backend_pid() as pid`);
  process.kill(Number(backend?.pid), "SIGKILL");
}

async function makeReadOnly(): Promise<void> {
  const set = (value: string) =>
    seen(async () => {
      await admin.unsafe("set default_transaction_read_only = off");
      await admin.unsafe(`alter system set default_transaction_read_only = ${value}`);
      await admin`select pg_reload_conf()`;
    });
  await set("on");
  await delay(READ_ONLY_MS);
  await set("off");
}

/** A conversation with any instance that answers. */
class Caller {
  readonly #client: Client;
  #next: number;
  constructor(client: Client, first: number) {
    this.#client = client;
    this.#next = first;
  }

  /** Repeats the request, each time at the next instance, until one serves it. */
  async ask<T>(work: (client: Client) => Promise<T>, isServed: (value: T) => boolean): Promise<T> {
    for (;;) {
      const url = `http://127.0.0.1:${ports[this.#next++ % INSTANCES]}`;
      const value = await work(clientAt(url, this.#client)).catch((error: unknown) => {
        if (error instanceof TypeError || isBusy(error)) return undefined;
        throw error;
      });
      if (value !== undefined && isServed(value)) return value;
      await delay(RETRY_MS);
    }
  }

  stream(conversation: Conversation, open: (there: Conversation) => Promise<TurnStream>) {
    return this.ask(
      (client) => open(conversation.through(client)),
      ({ status }) => status === 200 || status === 204,
    );
  }
}

/** Sends a message and reads its turn to the end, over as many connections as it takes. */
async function playTurn(caller: Caller, conversation: Conversation, id: string): Promise<void> {
  const turn: Turn = { times: [] };
  turns.push(turn);
  const frames: Frame[] = [];
  let stream = await caller.stream(conversation, (there) =>
    there.send([{ id, content: "[script:storm]" }]),
  );
  const { runId } = stream;
  for (;;) {
    const from = frames.length;
    await stream
      .until((_, frame) => {
        if (frame.id >= from) {
          expect(frame.id).toBe(frames.length);
          frames.push(frame);
          turn.times.push(performance.now());
        }
        return false;
      })
      .catch((error: unknown) => {
        if (!String(error).includes("ended without")) throw error;
      });
    if (stream.isDone || stream.status === 204) break;
    resumes++;
    stream = await caller.stream(conversation, (there) =>
      there.resume({ startIndex: frames.length }),
    );
    if (stream.status === 200) expect(stream.runId).toBe(runId);
  }

  // If a process is killed between storing the message and writing the last chunk, the next one
  // writes it; until then the chat is free, and a client that resumes finds no active stream.
  const log = () => seen(() => logOf(workspace, conversation));
  const lastType = async () => (await log()).at(-1)?.chunk.type;
  await expect.poll(lastType, { timeout: 30_000 }).toBe("finish");
  const [row] = await seen(
    () => workspace.sql`select status, error from turns where run_id = ${runId}`,
  );
  expect(row).toEqual({ status: "completed", error: null });
  const whole = await log();
  expectCompleteTurn(whole);
  expect(frames).toEqual(whole.slice(0, frames.length));
  const stored = await caller.ask(
    (client) => conversation.through(client).answer(),
    () => true,
  );
  expect(await assemble(whole.map(({ chunk }) => chunk))).toEqual(stored);
  const said = stored.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const expected = Array.from({ length: STEPS + 1 }, (_, step) =>
    Array.from({ length: DELTAS }, (_, n) => `${step}.${n} `).join(""),
  );
  expect(said).toBe(expected.join(""));
}

test(`${TURNS} turns at once survive ${SECONDS} s of kills and a rolling restart`, async () => {
  const deadline = { passed: false };
  const clients = await Promise.all(
    Array.from({ length: ACCOUNTS }, () => workspace.createCaller()),
  );
  const loops = Array.from({ length: TURNS }, async (_, n) => {
    const caller = new Caller(clients[n % ACCOUNTS] as Client, n);
    let played = 0;
    while (!deadline.passed) {
      const conversation = await caller.ask(openConversation, () => true);
      await playTurn(caller, conversation, `m${++played}`);
      const effects = await effectsOf(workspace, conversation);
      expect(new Set(effects).size, "no command runs twice").toBe(effects.length);
    }
  });
  // A turn that fails ends the storm at once.
  const failed = Promise.all(loops).then(() => {});
  const wait = (ms: number) => Promise.race([delay(ms), failed]);

  const stormEnd = Date.now() + SECONDS * 1_000;
  let restarting = Promise.resolve();
  for (let n = 0, event = 0; Date.now() < stormEnd; event++) {
    await wait(KILL_MS);
    await restarting;
    const kind = KINDS[event % (KINDS.length - 1)] ?? "kill";
    if (kind !== "kill") {
      events.push({ kind, at: performance.now() });
      if (kind === "read-only phase") await makeReadOnly();
      else if (kind === "crash of the database") await crashDatabase();
      else {
        await pooler?.stop();
        await pooler?.start();
      }
      continue;
    }
    n = (n + 1) % INSTANCES;
    const victim = instances[n];
    if (!victim) throw new Error("no such instance");
    events.push({ kind, at: performance.now() });
    victim.kill("SIGKILL");
    await victim.died;
    restarting = startInstance(n);
  }
  await restarting;
  await wait(KILL_MS);

  for (const [n, leaving] of instances.entries()) {
    events.push({ kind: "drain", at: performance.now() });
    leaving.kill("SIGTERM");
    expect(await leaving.died).toContain("(0)");
    await startInstance(n);
    await wait(KILL_MS);
  }
  deadline.passed = true;
  await failed;

  const stuck = await workspace.sql`select run_id from engine.runs where status = 'running'`;
  expect(stuck).toEqual([]);
  report();
}, 3_600_000);

function report(): void {
  const byKind = KINDS.map((kind) => {
    const ofKind = events.filter((event) => event.kind === kind);
    return `after a ${kind} (${ofKind.length}): ${percentiles(ofKind.flatMap(silencesAfter))}\n`;
  });
  console.log(
    `${turns.length} turns, ${events.length} events, ${resumes} resumes\n` +
      `longest silence of a stream, ms (pauses of the model: ${DELTA_MS})\n` +
      `${byKind.join("")}of a turn otherwise: ${percentiles(turns.flatMap(quietSilence))}`,
  );
}

/** The longest silence of each turn that was under way at the event, in the time after it. */
function silencesAfter({ at }: Event): number[] {
  return turns.flatMap(({ times }) => {
    const first = times[0] ?? Infinity;
    const last = times.at(-1) ?? 0;
    if (first > at || last < at) return [];
    return longestGap(times, (start, end) => end > at && start < at + AFTERMATH_MS);
  });
}

function quietSilence({ times }: Turn): number[] {
  return longestGap(times, (start, end) =>
    events.every(({ at }) => end < at || start > at + AFTERMATH_MS),
  );
}

function longestGap(times: number[], counts: (start: number, end: number) => boolean): number[] {
  const gaps = times.flatMap((end, place) => {
    const start = times[place - 1];
    return start !== undefined && counts(start, end) ? [end - start] : [];
  });
  return gaps.length === 0 ? [] : [Math.max(...gaps)];
}

function percentiles(values: number[]): string {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} (${sorted.length})`;
}
