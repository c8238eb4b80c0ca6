import { setTimeout as delay } from "node:timers/promises";
import { WorkflowRunNotFoundError } from "@workflow/errors";
import { start } from "workflow/api";
import { setWorld } from "workflow/runtime";
import type { Engine, TurnAddress } from "../../port.ts";
import { ChunkLog } from "./chunk-log.ts";
import { Listener, openPool, type Sql } from "./database.ts";
import { Ownership } from "./ownership.ts";
import { InProcessQueue } from "./queue.ts";
import { RunStore } from "./run-store.ts";
import { createWorld } from "./world.ts";

export interface PostgresEngineOptions {
  readonly databaseUrl: string;
  /** The origin at which this server can call its own routes. */
  readonly selfOrigin: string;
  /** Whether to reload route modules every time, because they change in development. */
  readonly reloadHandlers: boolean;
  readonly onError: (error: unknown, runId?: string) => void;
}

/** Run state and streams are kept for this long after their end. */
const RETENTION = "1 day";
/** Streams that were never closed are kept for longer than any turn lasts. */
const LOST_RETENTION = "30 days";
const SWEEP_MS = 600_000;
const PRELOAD_MS = 100;
/** Longer than the pause between two steps of a turn. */
const STOP_MEMORY_MS = 60_000;

/** The durable engine on PostgreSQL: runs, queue, streams and stop signals. */
export class PostgresEngine implements Engine {
  readonly name = "postgres";
  readonly #options: PostgresEngineOptions;
  readonly #sql: Sql;
  readonly #ownership: Ownership;
  readonly #runs: RunStore;
  readonly #queue: InProcessQueue;
  readonly #log: ChunkLog;
  readonly #stops = new Map<string, Set<() => void>>();
  /** Stops without a listener, and when they came: the turn may have been between two steps. */
  readonly #missedStops = new Map<string, number>();
  readonly #loaded = new Set<string>();

  constructor(options: PostgresEngineOptions) {
    this.#options = options;
    this.#sql = openPool(options.databaseUrl, options.onError);
    this.#ownership = new Ownership({
      databaseUrl: options.databaseUrl,
      onDeath: (former) => this.#runs.takeOver(former),
      onTakenOver: (runs) => {
        for (const run of runs) void this.#wake(run.runId, run.workflowName);
      },
      onLost: () => {
        this.#runs.dropAll();
        this.#log.dropAll();
      },
      onError: options.onError,
    });
    this.#runs = new RunStore(this.#sql, this.#ownership.id);
    this.#log = new ChunkLog(this.#sql, this.#ownership.id);
    this.#queue = new InProcessQueue({
      loadHandler: (kind) => this.#loadHandler(kind),
      owns: (runId) => this.#runs.owns(runId),
      onError: options.onError,
    });
  }

  async start(): Promise<void> {
    setWorld(createWorld({ runs: this.#runs, queue: this.#queue }));
    const channels = {
      engine_chunks: (turnId: string) => this.#log.wake(turnId),
      engine_stops: (turnId: string) => this.#stop(turnId),
    };
    await new Listener(this.#options.databaseUrl, channels, this.#options.onError).start();
    await this.#ownership.start();
    void this.#preload();
    setInterval(() => this.#sweep().catch(this.#options.onError), SWEEP_MS).unref();
  }

  async startRun<Input>(workflow: (input: Input) => Promise<void>, input: Input): Promise<string> {
    return (await start(workflow, [input])).runId;
  }

  async check(): Promise<void> {
    const [alive] = await this.#sql`select from engine.instances where id = ${this.#ownership.id}`;
    if (!alive) throw new Error("This process is not registered as a live instance");
  }

  async openLog(turnId: string, runId: string, fresh: boolean) {
    await this.#log.open(turnId, runId, fresh);
    return {
      committed: () => this.#log.committed(turnId),
      append: (chunks: readonly string[]) => this.#log.append(turnId, chunks),
      flushed: () => this.#log.flushed(turnId),
      close: (last: readonly string[]) => this.#log.close(turnId, last),
    };
  }

  read({ turnId, runId }: TurnAddress, startIndex: number, signal: AbortSignal) {
    return this.#log.read(turnId, runId, startIndex, signal);
  }

  tailIndex({ turnId }: TurnAddress): Promise<number> {
    return this.#log.tail(turnId);
  }

  async runState(runId: string) {
    try {
      const run = await this.#runs.run(runId);
      return run.status === "running" ? "running" : "ended";
    } catch (error) {
      if (WorkflowRunNotFoundError.is(error)) return "unknown";
      throw error;
    }
  }

  async signalStop(turnId: string): Promise<void> {
    this.#stop(turnId);
    await this.#sql`select pg_notify('engine_stops', ${turnId})`;
  }

  onStop(turnId: string, stop: () => void): () => void {
    const stops = this.#stops.get(turnId) ?? new Set();
    this.#stops.set(turnId, stops.add(stop));
    if (this.#missedStops.delete(turnId)) stop();
    return () => {
      stops.delete(stop);
      if (stops.size === 0) this.#stops.delete(turnId);
    };
  }

  #stop(turnId: string): void {
    const listening = this.#stops.get(turnId);
    if (!listening) {
      for (const [old, at] of this.#missedStops) {
        if (Date.now() - at > STOP_MEMORY_MS) this.#missedStops.delete(old);
      }
      this.#missedStops.set(turnId, Date.now());
    }
    for (const stop of listening ?? []) stop();
  }

  #wake(runId: string, workflowName: string) {
    return this.#queue.queue(`__wkf_workflow_${workflowName}`, { runId, requestedAt: new Date() });
  }

  /** Calls a route of the SDK, because its module registers the handler when it is first loaded. */
  async #loadHandler(kind: "flow" | "step"): Promise<void> {
    if (this.#loaded.has(kind) && !this.#options.reloadHandlers) return;
    const url = `${this.#options.selfOrigin}/.well-known/workflow/v1/${kind}`;
    await (await fetch(url, { method: "POST" })).body?.cancel();
    this.#loaded.add(kind);
  }

  /** Loads both handlers ahead of the first turn, as soon as the server listens. */
  async #preload(): Promise<void> {
    while (this.#loaded.size < 2) {
      await delay(PRELOAD_MS, undefined, { ref: false });
      await Promise.all([this.#loadHandler("flow"), this.#loadHandler("step")]).catch(() => {});
    }
  }

  async #sweep(): Promise<void> {
    await this.#sql`
      delete from engine.runs where completed_at < now() - ${RETENTION}::interval`;
    // A stream that was never closed belongs to a run that was lost.
    await this.#sql`
      delete from engine.chunks c where written_at < now() - ${RETENTION}::interval
        and (exists (select from engine.chunks e where e.stream = c.stream and e.eof)
          or written_at < now() - ${LOST_RETENTION}::interval)`;
  }
}
