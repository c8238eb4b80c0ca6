import { setTimeout as delay } from "node:timers/promises";
import { setWorld } from "workflow/runtime";
import { ChunkLog } from "../../../packages/world-postgres/src/chunk-log.ts";
import type { Measurements } from "../../../packages/world-postgres/src/measurements.ts";
import { PostgresWorld } from "../../../packages/world-postgres/src/postgres-world.ts";
import { sweepEngine } from "../../../packages/world-postgres/src/retention.ts";
import type { Engine, TurnAddress, TurnStops } from "../port.ts";
import { firstStepOf } from "../workflow-names.ts";
import { loadRoute, runState, startWorkflow, wake } from "./sdk.ts";
import { StopListeners } from "./stop-listeners.ts";

export interface PostgresEngineOptions extends TurnStops {
  readonly databaseUrl: string;
  /** The size of the pool; two more sessions hold the lease and listen. */
  readonly maxConnections: number;
  /** The origin at which this server can call its own routes. */
  readonly selfOrigin: string;
  /** Whether to reload route modules every time, because they change in development. */
  readonly reloadHandlers: boolean;
  readonly onError: (error: unknown, runId?: string) => void;
  readonly measurements: Measurements;
}

const SWEEP_MS = 600_000;
/** A stop by request is signalled; the end of a turn's authority is found in the database. */
const STOP_CHECK_MS = 1_000;
const PRELOAD_MS = 100;
/** Until the cause of the disconnection has passed. */
const RETRY_MS = 500;
/** Longer than the pause between two steps of a turn. */
const STOP_MEMORY_MS = 60_000;

/** The durable engine on PostgreSQL: runs, queue, streams and stop signals. */
export class PostgresEngine implements Engine {
  readonly name = "postgres";
  readonly executesOwnRuns = true;
  readonly runState = runState;
  readonly wake = wake;
  readonly #options: PostgresEngineOptions;
  readonly #world: PostgresWorld;
  readonly #log: ChunkLog;
  readonly #stops = new StopListeners();
  /** Stops without a listener, and when they came: the turn may have been between two steps. */
  readonly #missedStops = new Map<string, number>();
  readonly #loaded = new Set<string>();
  #draining = false;

  constructor(options: PostgresEngineOptions) {
    this.#options = options;
    this.#world = new PostgresWorld({
      databaseUrl: options.databaseUrl,
      maxConnections: options.maxConnections,
      loadHandler: (kind) => this.#loadHandler(kind),
      channels: {
        engine_chunks: (turnId) => this.#log.wake(turnId),
        engine_stops: (turnId) => this.#stop(turnId),
      },
      onReconnected: () => void this.#findMissedStops(),
      onReleased: (runIds) => this.#log.release(new Set(runIds)),
      onLost: () => this.#log.dropAll(),
      onError: options.onError,
      measurements: options.measurements,
    });
    this.#log = new ChunkLog(this.#world.sql, this.#world.ownership.id);
  }

  get processId(): string {
    return this.#world.ownership.id;
  }

  async start(): Promise<void> {
    setWorld(this.#world.world);
    await this.#world.start();
    void this.#preload();
    const { onError } = this.#options;
    setInterval(() => sweepEngine(this.#world.sql).catch(onError), SWEEP_MS).unref();
    void this.#watchStops();
  }

  startWorkflow(workflow: string, input: unknown): Promise<string> {
    const world = this.#world.startingWith(async (runId) => {
      await this.#loadHandler("step");
      return (await firstStepOf(workflow)?.(input, runId)) ?? false;
    });
    return startWorkflow(workflow, input, world);
  }

  async drain(deadline: AbortSignal): Promise<void> {
    this.#draining = true;
    this.#log.drain();
    await this.#world.drain(deadline);
  }

  async check(): Promise<void> {
    if (this.#draining) throw new Error("This process is draining");
    // The lock is a write, because a standby or a read-only database answers reads.
    const [alive] = await this.#world.sql`
      select from engine.instances where id = ${this.#world.ownership.id} for no key update`;
    if (!alive) throw new Error("This process is not registered as a live instance");
  }

  openLog(turnId: string, runId: string, fresh: boolean) {
    return this.#log.open(turnId, runId, fresh);
  }

  read(
    { turnId, runId }: TurnAddress,
    startIndex: number,
    signal: AbortSignal,
    isNew: boolean | undefined,
  ) {
    return this.#log.read(turnId, runId, startIndex, signal, isNew);
  }

  tailIndex({ turnId }: TurnAddress): Promise<number> {
    return this.#log.tail(turnId);
  }

  async signalStop(turnId: string): Promise<void> {
    this.#stop(turnId);
    await this.#world.sql`select pg_notify('engine_stops', ${turnId})`;
    await wake(turnId);
  }

  onStop(turnId: string, stop: () => void): () => void {
    if (this.#missedStops.delete(turnId)) stop();
    return this.#stops.listen(turnId, stop);
  }

  #stop(turnId: string): void {
    if (this.#stops.signal(turnId)) return;
    for (const [old, at] of this.#missedStops) {
      if (Date.now() - at > STOP_MEMORY_MS) this.#missedStops.delete(old);
    }
    this.#missedStops.set(turnId, Date.now());
  }

  async #watchStops(): Promise<void> {
    while (!this.#draining) {
      await delay(STOP_CHECK_MS, undefined, { ref: false });
      await this.#findStops().catch(this.#options.onError);
    }
  }

  /** Turns that execute here, whose stop was requested or whose authority has ended. */
  async #findStops(): Promise<void> {
    if (this.#stops.size === 0) return;
    for (const turnId of await this.#options.findStopped(this.#stops.turnIds())) this.#stop(turnId);
  }

  /** Stops that other processes requested while this one did not listen. */
  async #findMissedStops(): Promise<void> {
    for (;;) {
      try {
        await this.#findStops();
        return;
      } catch (error) {
        this.#options.onError(error);
        await delay(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  async #loadHandler(kind: "flow" | "step"): Promise<void> {
    if (this.#loaded.has(kind) && !this.#options.reloadHandlers) return;
    await loadRoute(this.#options.selfOrigin, kind);
    this.#loaded.add(kind);
  }

  /** Loads both handlers ahead of the first turn, as soon as the server listens. */
  async #preload(): Promise<void> {
    while (this.#loaded.size < 2) {
      await delay(PRELOAD_MS, undefined, { ref: false });
      await Promise.all([this.#loadHandler("flow"), this.#loadHandler("step")]).catch(() => {});
    }
  }
}
