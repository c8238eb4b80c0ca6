import { getRun } from "workflow/api";
import { runState } from "../sdk.ts";
import { type StreamWrite, WriteOrder } from "./write-order.ts";

/**
 * After this much silence the World is asked whether something was missed, or the run has ended; then
 * after twice as much each time.
 */
const SILENCE_MS = 1_000;
const MAX_SILENCE_MS = 8_000;
/** The stream may be unused between two steps of a turn, and while a client reconnects. */
const LINGER_MS = 10_000;

interface Open {
  readonly stream: ReturnType<ReturnType<typeof getRun>["getReadable"]>;
  readonly reader: ReadableStreamDefaultReader<StreamWrite>;
}

/**
 * Follows the stream of one run, once for everybody in this process: its readers, and the step that
 * writes it, which learns here that its writes are committed. The chunks stay in memory while it is used,
 * so a client resumes at any index without another read of the stream.
 */
export class Follower {
  readonly order = new WriteOrder();
  readonly #runId: string;
  readonly #onIdle: () => void;
  readonly #waiting = new Set<() => void>();
  #users = 0;
  #linger: NodeJS.Timeout | undefined;
  /** The open stream; undefined while it is unused, and when it has ended. */
  #open: Open | undefined;
  /** Writes of the stream that were read, whether they count or not. */
  #position = 0;
  #ended = false;
  #failure: Error | undefined;

  /** @param onIdle is called when the stream has failed or has been unused for some seconds. */
  constructor(runId: string, onIdle: () => void) {
    this.#runId = runId;
    this.#onIdle = onIdle;
  }

  /** Whether no further chunk will come. */
  get ended(): boolean {
    return this.#ended || this.order.ended;
  }

  /**
   * Follows the stream until the returned function is called.
   * @param onChange is called at each change until then
   */
  use(onChange?: () => void): () => void {
    this.#users++;
    if (onChange) this.#waiting.add(onChange);
    clearTimeout(this.#linger);
    if (!this.#open && !this.ended && !this.#failure) void this.#follow();
    let isUsing = true;
    return () => {
      if (!isUsing) return;
      isUsing = false;
      if (onChange) this.#waiting.delete(onChange);
      if (--this.#users === 0) this.#linger = setTimeout(() => this.#leave(), LINGER_MS).unref();
    };
  }

  /**
   * Resolves at the next change, or when `signal` aborts.
   * @throws Error when the stream cannot be read.
   */
  async change(signal?: AbortSignal): Promise<void> {
    if (this.#failure) throw this.#failure;
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal?.addEventListener("abort", wake);
      if (signal?.aborted) wake();
    });
    if (this.#failure) throw this.#failure;
  }

  wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves when everything has been read that the stream had at the time of the call. */
  async caughtUp(): Promise<void> {
    const tail = (await this.#open?.stream.getTailIndex()) ?? -1;
    while (this.#position <= tail && !this.ended) await this.change();
  }

  /** Ends the stream of a run that has ended without closing it, as after a loss of data. */
  async endWithRun(): Promise<void> {
    if ((await runState(this.#runId)) === "running") return;
    await this.caughtUp();
    this.#end();
  }

  /** Reads the stream from `#position` on. One that breaks without a write is reopened once. */
  async #follow(isRetry = false): Promise<void> {
    const from = this.#position;
    let open: Open | undefined;
    try {
      const stream = getRun(this.#runId).getReadable<StreamWrite>({ startIndex: from });
      open = { stream, reader: stream.getReader() };
      this.#open = open;
      await this.#read(open);
    } catch (error) {
      if (this.#open !== open) return;
      if (!isRetry || this.#position > from) return this.#follow(this.#position === from);
      this.#failure = error instanceof Error ? error : new Error(String(error));
      this.#open = undefined;
      this.#onIdle();
      this.wake();
    }
  }

  /** Resolves when the stream has ended, or is no longer the one to read. */
  async #read(open: Open): Promise<void> {
    let silence: NodeJS.Timeout | undefined;
    const watchSilence = (pauseMs: number) => {
      clearTimeout(silence);
      silence = setTimeout(async () => {
        await this.#checkForMissed(open);
        if (this.#open === open) watchSilence(Math.min(2 * pauseMs, MAX_SILENCE_MS));
      }, pauseMs).unref();
    };
    watchSilence(SILENCE_MS);
    try {
      while (!this.ended) {
        const { value, done } = await open.reader.read();
        if (this.#open !== open) return;
        if (done) return this.#end();
        watchSilence(SILENCE_MS);
        this.#position++;
        this.order.add(value);
        this.wake();
      }
      this.#end();
    } finally {
      clearTimeout(silence);
    }
  }

  /** Worlds lose notifications, for example when the connection that listens for them breaks. */
  async #checkForMissed(open: Open): Promise<void> {
    const position = this.#position;
    try {
      const tail = await open.stream.getTailIndex();
      const hasMissed = this.#position === position && position <= tail;
      if (!hasMissed) await this.endWithRun();
      else if (this.#open === open) {
        this.#close();
        // From the start, because a World may sort missed writes before writes that were read.
        this.#position = 0;
        void this.#follow();
      }
    } catch {
      // A broken stream reports its own error; the next poll finds the World answering again.
    }
  }

  #end(): void {
    this.#ended = true;
    this.#close();
    this.wake();
  }

  #close(): void {
    const open = this.#open;
    this.#open = undefined;
    void open?.reader.cancel().catch(() => {});
  }

  #leave(): void {
    this.#close();
    this.#onIdle();
  }
}
