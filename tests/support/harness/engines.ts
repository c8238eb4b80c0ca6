/** Both engines with the tools of the log tests: a second process, and delayed writes. */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import { expect } from "vitest";
import { getWorld } from "workflow/runtime";
import { PostgresEngine } from "../../../lib/engine/adapters/postgres.ts";
import { WorkflowEngine } from "../../../lib/engine/adapters/workflow/engine.ts";
import type { Engine, TurnAddress } from "../../../lib/engine/port.ts";
import { noMeasurements } from "../../../packages/world-postgres/src/measurements.ts";
import { createEngineDatabase } from "./engine-database.ts";

/** Writes that are held back until the test releases them, or lets them fail. */
interface Hold {
  /** Resolves when a write is held back. */
  reached(): Promise<unknown>;
  release(): Promise<unknown>;
  fail(): Promise<unknown>;
}

export interface Processes {
  /** The process that writes. */
  readonly engine: Engine;
  /** Another process that has the same data. */
  readonly other: Engine;
  /** Makes the run the other process's. */
  takeOver(runId: string): Promise<unknown>;
  hold(): Promise<Hold>;
  stop(): Promise<unknown>;
}

const runs = new Map<string, string>();
const common = {
  selfOrigin: "http://127.0.0.1:1",
  reloadHandlers: false,
  onError: () => {},
  findStopped: async () => [],
  findRun: async (turnId: string) => runs.get(turnId) ?? null,
  measurements: noMeasurements,
};

export async function startPostgres(): Promise<Processes> {
  const database = await createEngineDatabase();
  const sql: Sql = postgres(database.url, { max: 2, onnotice: () => {} });
  const start = async () => {
    const engine = new PostgresEngine({ ...common, databaseUrl: database.url, maxConnections: 2 });
    await engine.start();
    return engine;
  };
  const other = await start();
  const waiting = () => sql`
    select pid from pg_locks where relation = 'engine.chunks'::regclass and not granted`;
  return {
    engine: await start(),
    other,
    takeOver: (runId) => sql`
      update engine.runs r set owner = i.id from engine.instances i
      where r.run_id = ${runId} and i.id <> r.owner`,
    async hold() {
      const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const held = sql.begin(async (transaction) => {
        await transaction`lock table engine.chunks in exclusive mode`;
        locked.resolve();
        await released.promise;
      });
      await locked.promise;
      const release = () => {
        released.resolve();
        return held;
      };
      return {
        reached: () => expect.poll(waiting, { interval: 20 }).not.toEqual([]),
        release,
        async fail() {
          for (const { pid } of await waiting()) await sql`select pg_cancel_backend(${pid})`;
          await release();
        },
      };
    },
    async stop() {
      await sql.end();
      await database.drop();
    },
  };
}

export async function startLocal(): Promise<Processes> {
  const dataDir = await mkdtemp(join(tmpdir(), "agent-platform-log-"));
  const options = { ...common, world: "local", dataDir };
  const engine = new WorkflowEngine(options);
  await engine.start();
  const world = getWorld();
  const write = world.writeToStream.bind(world);
  return {
    engine,
    // Reads and writes the same World.
    other: new WorkflowEngine(options),
    takeOver: async () => {},
    async hold() {
      const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      world.writeToStream = async (...args) => {
        reached.resolve();
        await released.promise;
        return write(...args);
      };
      return {
        reached: () => reached.promise,
        async release() {
          world.writeToStream = write;
          released.resolve();
        },
        async fail() {
          world.writeToStream = write;
          released.reject(new Error("The write failed"));
        },
      };
    },
    stop: () => rm(dataDir, { recursive: true, force: true }),
  };
}

export type Turn = TurnAddress & { readonly runId: string };

/** Runs the work as a step of a new run. */
export async function inStep(work: (turn: Turn) => Promise<void>): Promise<void> {
  const turnId = randomUUID();
  const { run } = await getWorld().events.create(null, {
    eventType: "run_created",
    specVersion: getWorld().specVersion,
    eventData: { deploymentId: "test", workflowName: "turn", input: new Uint8Array() },
  });
  const runId = run?.runId ?? "";
  runs.set(turnId, runId);
  // Where the SDK's streams find their run.
  const context = Reflect.get(globalThis, Symbol.for("WORKFLOW_STEP_CONTEXT_STORAGE"));
  if (!(context instanceof AsyncLocalStorage)) throw new Error("The SDK has another context");
  const turn = { turnId, runId };
  await context.run({ workflowMetadata: { workflowRunId: runId }, ops: [] }, () => work(turn));
}
