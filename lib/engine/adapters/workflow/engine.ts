import { setTimeout as delay } from "node:timers/promises";
import { getRun } from "workflow/api";
import { createWorld, setWorld } from "workflow/runtime";
import { provideEnvironment } from "../../../platform/config.ts";
import type { ChunkBatch, Engine, ReadEnd, TurnAddress, TurnLog, TurnStops } from "../../port.ts";
import { runState, startWorkflow, wake } from "../sdk.ts";
import { Deliveries, type DeliveriesOptions } from "./deliveries.ts";
import { Follower } from "./follower.ts";
import { StopSignals } from "./stop-signals.ts";
import { StreamLog } from "./stream-log.ts";

export interface WorkflowEngineOptions extends DeliveriesOptions, TurnStops {
  /** A package, `local` or `vercel`: as in the SDK's own setting WORKFLOW_TARGET_WORLD. */
  readonly world: string;
  /** The folder of the `local` World, unless its own setting names another. */
  readonly dataDir: string;
  /** Returns the run that executes the turn; null before its first step has started. */
  readonly findRun: (turnId: string) => Promise<string | null>;
  readonly onError: (error: unknown) => void;
}

/** The poll interval for the run of a claimed turn that has not started. */
const RUN_POLL_MS = 100;
const DRAIN_POLL_MS = 50;

/**
 * The durable engine on any World of the Workflow SDK, through the SDK's public interface. The World
 * decides about retention and about the runs of a process that dies.
 */
export class WorkflowEngine implements Engine {
  readonly name: string;
  /** Any instance of a deployment may get the delivery of the first step. */
  readonly executesOwnRuns = false;
  readonly processId = null;
  readonly startWorkflow = startWorkflow;
  readonly runState = runState;
  readonly wake = wake;
  readonly #options: WorkflowEngineOptions;
  readonly #followers = new Map<string, Follower>();
  readonly #stops: StopSignals;
  #isDraining = false;

  constructor(options: WorkflowEngineOptions) {
    this.name = `workflow:${options.world}`;
    this.#options = options;
    this.#stops = new StopSignals(options.findStopped, options.onError);
  }

  async start(): Promise<void> {
    const { world: name, dataDir } = this.#options;
    const isPlatform = name === "vercel" || name === "@workflow/world-vercel";
    const deliveries = isPlatform ? undefined : new Deliveries(this.#options);
    // Worlds read their settings from the environment.
    provideEnvironment({
      WORKFLOW_TARGET_WORLD: name,
      WORKFLOW_LOCAL_DATA_DIR: dataDir,
      ...(await deliveries?.listen()),
    });
    const world = createWorld();
    // `StreamLog` gathers chunks itself, and its first one is not to wait.
    world.streamFlushIntervalMs = 0;
    deliveries?.serve(world);
    setWorld(world);
    await world.start?.();
    void deliveries?.preload();
  }

  async check(): Promise<void> {
    if (this.#isDraining) throw new Error("This process is draining");
    await getRun("wrun_00000000000000000000000000").exists;
  }

  /** A World has no hand-over: unfinished runs continue when a process starts. */
  async drain(deadline: AbortSignal): Promise<void> {
    this.#isDraining = true;
    while (this.#stops.size > 0 && !deadline.aborted) {
      await delay(DRAIN_POLL_MS, undefined, { signal: deadline }).catch(() => {});
    }
  }

  async openLog(_turnId: string, runId: string, fresh: boolean): Promise<TurnLog> {
    const follower = this.#follower(runId);
    const leave = follower.use();
    try {
      if (!fresh) await follower.caughtUp();
      return new StreamLog(follower);
    } finally {
      leave();
    }
  }

  async *read(
    turn: TurnAddress,
    startIndex: number,
    signal: AbortSignal,
  ): AsyncGenerator<ChunkBatch, ReadEnd> {
    const runId = turn.runId ?? (await this.#untilRun(turn.turnId, signal));
    if (runId === null) return "moved";
    const follower = this.#follower(runId);
    const { chunks } = follower.order;
    const leave = follower.use();
    // A generator that is never resumed never reaches its end.
    signal.addEventListener("abort", leave, { once: true });
    try {
      let next = startIndex;
      while (!signal.aborted) {
        if (next < chunks.length) {
          const batch = { firstIndex: next, chunks: chunks.slice(next) };
          next = chunks.length;
          yield batch;
        } else if (follower.ended) return "ended";
        else await follower.change(signal);
      }
      return "moved";
    } finally {
      signal.removeEventListener("abort", leave);
      leave();
    }
  }

  async tailIndex({ runId }: TurnAddress): Promise<number> {
    if (runId === null) return -1;
    const follower = this.#follower(runId);
    const leave = follower.use();
    try {
      await follower.caughtUp();
      return follower.order.chunks.length - 1;
    } finally {
      leave();
    }
  }

  async signalStop(turnId: string): Promise<void> {
    this.#stops.signal(turnId);
    await wake(turnId);
  }

  onStop(turnId: string, stop: () => void): () => void {
    return this.#stops.listen(turnId, stop);
  }

  async #untilRun(turnId: string, signal: AbortSignal): Promise<string | null> {
    while (!signal.aborted) {
      const runId = await this.#options.findRun(turnId);
      if (runId !== null) return runId;
      await delay(RUN_POLL_MS, undefined, { signal }).catch(() => {});
    }
    return null;
  }

  #follower(runId: string): Follower {
    const known = this.#followers.get(runId);
    if (known) return known;
    const follower = new Follower(runId, () => {
      if (this.#followers.get(runId) === follower) this.#followers.delete(runId);
    });
    this.#followers.set(runId, follower);
    return follower;
  }
}
