/**
 * The port of the durable engine: what the product needs of it beyond the Workflow SDK itself.
 * Two adapters: PostgreSQL (`postgres/`), and the Workflow service of Vercel (`vercel/`).
 */
export interface TurnLog {
  /** UI message chunks (JSON texts) that are already committed, from index 0. */
  committed(): readonly string[];
  /** Appends chunks in order. A reader sees a chunk only after it is committed. */
  append(chunks: readonly string[]): void;
  /** Resolves when all that was appended is committed; throws when the turn has another writer. */
  flushed(): Promise<void>;
  /** Ends the stream with these chunks, in one write. A stream that has ended stays as it is. */
  close(last: readonly string[]): Promise<void>;
}

export interface ChunkBatch {
  /** Index of the first chunk, counted from 0 over the whole turn. */
  readonly firstIndex: number;
  /** UI message chunks as JSON texts. */
  readonly chunks: readonly string[];
}

type RunState = "running" | "ended" | "unknown";

export interface Engine {
  readonly name: "postgres" | "vercel";
  /** Called once in each server process before it serves. */
  start(): Promise<void>;
  /** Throws when runs could not be started or go on now. */
  check(): Promise<void>;
  /**
   * Opens the turn's stream for writing, inside a step of its run.
   * @param fresh true when no attempt can have written anything yet.
   */
  openLog(turnId: string, runId: string, fresh: boolean): Promise<TurnLog>;
  /** The turn's chunks from `startIndex` on, each once, until its stream ends or `signal` fires. */
  read(turn: TurnAddress, startIndex: number, signal: AbortSignal): AsyncIterable<ChunkBatch>;
  /** Index of the last chunk a reader could have now; -1 when there is none. */
  tailIndex(turn: TurnAddress): Promise<number>;
  runState(runId: string): Promise<RunState>;
  /** Tells the process that runs the turn to stop it. The stored flag is the caller's business. */
  signalStop(turnId: string): Promise<void>;
  /** Hears `signalStop`, wherever it was called. @returns how to stop listening. */
  onStop(turnId: string, stop: () => void): () => void;
}

export interface TurnAddress {
  readonly turnId: string;
  /** Null as long as the turn is claimed but its run not known yet. */
  readonly runId: string | null;
}
