/**
 * The port of the durable engine: the product's requirements beyond the Workflow SDK. It has two
 * adapters: PostgreSQL with a chunk log, and any World of the SDK, such as Vercel's service.
 */

/** The chunk log of a turn, opened for writing. */
export interface TurnLog {
  /**
   * Aborts when a write has failed, with its error as the reason. Nothing more can be written then: the
   * step is to fail, and its next attempt reads the log again.
   */
  readonly failed: AbortSignal;
  /** Returns the committed UI message chunks as JSON texts, from index 0. */
  committed(): readonly string[];
  /** Appends chunks in order. A reader sees a chunk only after it is committed. */
  append(chunks: readonly string[]): void;
  /** Resolves when all appended chunks are committed. Throws when the turn has another writer. */
  flushed(): Promise<void>;
  /** Ends the stream with these chunks, in one write. Does nothing when the stream has ended. */
  close(last: readonly string[]): Promise<void>;
  /**
   * Ends writing in the present step and drops chunks that are in no write yet. The log may be kept and
   * written again in a later step.
   */
  release(): void;
}

export interface ChunkBatch {
  /** Index of the first chunk, counted from 0 over the whole turn. */
  readonly firstIndex: number;
  /** UI message chunks as JSON texts. */
  readonly chunks: readonly string[];
}

/**
 * Why a reading ended: the stream has ended, or this process drains and no longer follows it. Its
 * other chunks are then to be read through another process. Also `moved` after an abort.
 */
export type ReadEnd = "ended" | "moved";

type RunState = "running" | "ended" | "unknown";

export interface Engine {
  /** The name in `GET /api/health`: `postgres`, or `workflow:` and the name of the World. */
  readonly name: string;
  /** Whether a run takes its first step in the process that starts it, unless that process ends. */
  readonly executesOwnRuns: boolean;
  /** The id of this process in `engine.instances`, by which others know whether it is alive; null if it has none. */
  readonly processId: string | null;
  /** Is called once in each server process, before it accepts requests. */
  start(): Promise<void>;
  /**
   * Starts a durable run and resolves with its id. The run continues if the process that started it dies.
   * @param workflow a name that `nameWorkflow` has given
   * @param input is stored with the run: ids, and nothing secret.
   */
  startWorkflow(workflow: string, input: unknown): Promise<string>;
  /** Throws when runs cannot be started or continued at present, and while this process drains. */
  check(): Promise<void>;
  /**
   * Hands the runs of this process over to others, each as soon as its step in progress has ended,
   * and at the latest when `deadline` aborts. Readings end when their turn has been handed over.
   * Resolves when this process owns no run and may exit.
   */
  drain(deadline: AbortSignal): Promise<void>;
  /**
   * Opens the turn's stream for writing, inside a step of its run.
   * @param fresh whether no attempt can have written anything yet.
   */
  openLog(turnId: string, runId: string, fresh: boolean): Promise<TurnLog>;
  /**
   * Yields the chunks from `startIndex` on, each once, until the stream ends, `signal` aborts, or
   * this process drains.
   * @param isNew whether this process has just started the run, whose log is still empty. Default: false
   */
  read(
    turn: TurnAddress,
    startIndex: number,
    signal: AbortSignal,
    isNew?: boolean,
  ): AsyncGenerator<ChunkBatch, ReadEnd>;
  /** Resolves with the index of the last committed chunk; -1 when there is none. */
  tailIndex(turn: TurnAddress): Promise<number>;
  runState(runId: string): Promise<RunState>;
  /**
   * Signals the process that executes the turn to stop it, and wakes a turn that waits. The caller has stored
   * the request.
   */
  signalStop(turnId: string): Promise<void>;
  /** Lets the run of a turn that waits continue. Does nothing if none waits. */
  wake(turnId: string): Promise<void>;
  /** Calls `stop` on a `signalStop` of any process. Returns a function that ends listening. */
  onStop(turnId: string, stop: () => void): () => void;
}

/** The stops that the product has stored, which the engine looks up because a signal can be lost. */
export interface TurnStops {
  /** Returns the given turns that must stop: by request, or because their authority has ended. */
  readonly findStopped: (turnIds: readonly string[]) => Promise<string[]>;
}

export interface TurnAddress {
  readonly turnId: string;
  /** Null while the turn is claimed but has no run yet. */
  readonly runId: string | null;
}
