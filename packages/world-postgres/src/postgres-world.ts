import { EntityConflictError } from "@workflow/errors";
import type { World } from "@workflow/world";
import { Listener, openPool, type Pool } from "./database.ts";
import { type Measurements, noMeasurements } from "./measurements.ts";
import { Ownership } from "./ownership.ts";
import { type FirstStep, InProcessQueue } from "./queue.ts";
import { RunLists } from "./run-lists.ts";
import { RunStore } from "./run-store.ts";
import { FREE_RUNS } from "./run-tables.ts";
import { Streams } from "./streams.ts";
import { createWorld } from "./world.ts";

export interface PostgresWorldOptions {
  readonly databaseUrl: string;
  /** The size of the pool; two more sessions hold the lease and listen. */
  readonly maxConnections: number;
  /** Loads the module that registers the handler of this kind, if it is not loaded yet. */
  readonly loadHandler: (kind: "flow" | "step") => Promise<void>;
  /** Further channels to listen on, each with the handler of its payloads. */
  readonly channels: Readonly<Record<string, (payload: string) => void>>;
  /** Notifications sent on those channels shortly before may have been missed. */
  readonly onReconnected: () => void;
  /** These runs are released, because this process drains. */
  readonly onReleased: (runIds: readonly string[]) => void;
  /** Another process has taken over the runs of this one. */
  readonly onLost: () => void;
  readonly onError: (error: unknown, runId?: string) => void;
  readonly measurements: Measurements;
}

/**
 * The Workflow SDK's `World` on PostgreSQL. Once started, it executes runs. Before, it only reads
 * them and sends to them, as tools do: a run that it creates is executed by a process that has
 * started.
 */
export class PostgresWorld {
  readonly #options: PostgresWorldOptions;
  readonly #pool: Pool;
  readonly ownership: Ownership;
  readonly runs: RunStore;
  /** The World for the Workflow SDK. */
  readonly world: World;
  readonly #queue: InProcessQueue;
  readonly #streams: Streams;
  #started = false;

  /** Opens the World without the streams and stops of turns, for a tool. */
  static open(databaseUrl: string, onError: PostgresWorldOptions["onError"]): PostgresWorld {
    return new PostgresWorld({
      databaseUrl,
      maxConnections: 2,
      // A process that executes runs imports the SDK's handlers itself, and they register with this
      // World.
      loadHandler: async () => {},
      channels: {},
      onReconnected: () => {},
      onReleased: () => {},
      onLost: () => {},
      onError,
      measurements: noMeasurements,
    });
  }

  constructor(options: PostgresWorldOptions) {
    this.#options = options;
    const { databaseUrl, maxConnections, onError, measurements } = options;
    this.#pool = openPool(databaseUrl, maxConnections, onError, measurements);
    this.ownership = new Ownership({
      databaseUrl: options.databaseUrl,
      adopt: async (limit) => {
        const runs = await this.runs.adopt(limit);
        for (const { runId } of runs) this.#continue(runId);
        measurements.count("runs.adopted", runs.length);
        return runs.length;
      },
      onLost: () => {
        measurements.count("processes.fenced", 1);
        this.runs.dropAll();
        options.onLost();
      },
      onError: options.onError,
      measurements,
    });
    this.runs = new RunStore(this.#pool.sql, this.ownership.id);
    this.#streams = new Streams(this.#pool.sql);
    this.#queue = new InProcessQueue({
      loadHandler: options.loadHandler,
      owns: (runId) => this.runs.owns(runId),
      forward: (runId) => this.runs.notifyOwner(runId),
      onIdle: (runId) => this.#release([runId]),
      onError: options.onError,
    });
    this.world = createWorld({
      runs: this.runs,
      lists: new RunLists(this.#pool.sql),
      streams: this.#streams,
      queue: this.#queue,
      start: () => this.start(),
      close: () => this.#pool.end(),
    });
  }

  get sql() {
    return this.#pool.sql;
  }

  async start(): Promise<void> {
    if (this.#started) return;
    this.#started = true;
    const { databaseUrl, channels, onError, measurements } = this.#options;
    measurements.count("processes.fenced", 0);
    measurements.count("runs.freed", 0);
    measurements.observe("database.size", async () => {
      const [row] = await this.#pool.sql`
        select pg_database_size(current_database())::float8 as bytes`;
      return Number(row?.bytes);
    });
    measurements.observe("inbox.age", async () => {
      const [oldest] = await this.#pool.sql`
        select extract(epoch from clock_timestamp() - posted_at)::float8 as seconds
        from engine.inbox join engine.runs using (run_id)
        where status = 'running' order by id limit 1`;
      return Number(oldest?.seconds ?? 0);
    });
    const ownChannels = {
      engine_runs: (runId: string) => this.#continue(runId),
      [FREE_RUNS]: () => void this.ownership.adopt().catch(onError),
      engine_streams: (name: string) => this.#streams.wake(name),
    };
    // Messages sent while no one listened are still in the inbox.
    const onReconnected = () => {
      for (const runId of this.runs.ownedIds()) this.#continue(runId);
      this.#options.onReconnected();
    };
    await new Listener(
      databaseUrl,
      { ...channels, ...ownChannels },
      onReconnected,
      onError,
    ).start();
    await this.ownership.start();
  }

  /**
   * Returns the World for one `start` of the SDK. The run takes a step in this process before its workflow is
   * replayed, at a fraction of the cost of a step of the workflow. It is neither recorded nor repeated: when it fails or
   * its process dies, the workflow starts from its beginning, and must continue the work of the step.
   * @param firstStep resolves with whether it has completed the run, which then has no output
   */
  startingWith(firstStep: FirstStep): World {
    const first = (runId: string) =>
      this.#takeFirstStep(runId, firstStep).catch((error: unknown) => {
        if (!EntityConflictError.is(error)) this.#options.onError(error, runId);
        return false;
      });
    return {
      ...this.world,
      queue: (name, message, options) => this.#queue.queue(name, message, options, first),
    };
  }

  async #takeFirstStep(runId: string, firstStep: FirstStep): Promise<boolean> {
    if (!(await this.runs.created(runId)) || !(await firstStep(runId))) return false;
    await this.runs.complete(runId);
    return true;
  }

  /** Hands all runs over, each when its step in progress has ended or `deadline` aborts. */
  async drain(deadline: AbortSignal): Promise<void> {
    await this.ownership.retire();
    await this.#queue.drain(this.runs.ownedIds(), deadline);
    // An unfinished step is cut off, as by a crash.
    await this.#release(this.runs.ownedIds());
  }

  async #release(runIds: readonly string[]): Promise<void> {
    if (runIds.length === 0) return;
    await this.runs.release(runIds);
    this.#options.measurements.count("runs.handed_over", runIds.length);
    this.#options.onReleased(runIds);
  }

  /** Reads the messages to a run of this process, and replays the run. */
  #continue(runId: string): void {
    this.runs
      .receive(runId)
      .then((run) => run && this.#queue.queue(`__wkf_workflow_${run.workflowName}`, { runId }))
      .catch((error: unknown) => this.#options.onError(error, runId));
  }
}
