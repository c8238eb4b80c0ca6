import { randomUUID } from "node:crypto";
import { RunExpiredError } from "@workflow/errors";
import { getWritable } from "workflow";
import type { TurnLog } from "../../port.ts";
import type { Follower } from "./follower.ts";
import type { StreamWrite } from "./write-order.ts";

/** A World that has not committed a write after this long has lost it. */
const COMMIT_TIMEOUT_MS = 60_000;

type Writer = WritableStreamDefaultWriter<StreamWrite>;

/**
 * Writes a turn's chunks to the stream of its run. One write is in flight at a time, and one waits: the
 * SDK accepts a write when the one before it is committed. Chunks that gather during a write go into the
 * next one, so 200 deltas are a few writes.
 */
export class StreamLog implements TurnLog {
  readonly #follower: Follower;
  readonly #id = randomUUID();
  /** Held from the first use in a step until the step ends. */
  #held: { readonly writer: Writer; readonly leave: () => void } | undefined;
  #pending: string[] = [];
  /** Whether the next write is the last one. */
  #closing = false;
  #ending: Promise<void> | undefined;
  #writing = false;
  #nextIndex: number;
  #nextNumber = 0;
  readonly #failing = new AbortController();
  readonly failed = this.#failing.signal;

  /** @param follower has read all that earlier attempts have written. */
  constructor(follower: Follower) {
    this.#follower = follower;
    this.#nextIndex = follower.order.chunks.length;
  }

  committed(): readonly string[] {
    return this.#follower.order.chunks;
  }

  append(chunks: readonly string[]): void {
    this.failed.throwIfAborted();
    if (this.#ending || this.#follower.order.ended) throw new Error("The stream has ended");
    if (chunks.length === 0) return;
    for (const chunk of chunks) this.#pending.push(chunk);
    this.#schedule();
  }

  async flushed(): Promise<void> {
    const deadline = AbortSignal.timeout(COMMIT_TIMEOUT_MS);
    while (!this.#isCommitted()) {
      if (deadline.aborted) throw new Error("The World has not committed a write in time");
      await this.#follower.change(deadline);
    }
  }

  close(last: readonly string[]): Promise<void> {
    this.#ending ??= this.#end(last);
    return this.#ending;
  }

  release(): void {
    const held = this.#held;
    this.#held = undefined;
    this.#pending = [];
    // An end that is in no write yet is dropped as well.
    if (this.#closing) this.#ending = undefined;
    this.#closing = false;
    held?.writer.releaseLock();
    held?.leave();
  }

  async #end(last: readonly string[]): Promise<void> {
    this.failed.throwIfAborted();
    if (!this.#follower.order.ended) {
      for (const chunk of last) this.#pending.push(chunk);
      this.#closing = true;
      this.#schedule();
      await this.flushed();
    }
    if (this.#follower.order.ended) await this.#hold().close();
  }

  #isCommitted(): boolean {
    const outcome = this.#checkOutcome();
    this.failed.throwIfAborted();
    return !this.#writing && (outcome !== undefined || this.#nextNumber === 0);
  }

  /** Returns the outcome of the latest write, and fails the log unless it counts. */
  #checkOutcome() {
    const outcome = this.#follower.order.outcomeOf(this.#id, this.#nextNumber - 1);
    // Its step continues elsewhere. To the SDK this error means that there is nothing left to do.
    if (outcome === "superseded") {
      this.#failing.abort(new RunExpiredError("The turn has another writer"));
    }
    // Nothing of this attempt counts, so it can be repeated.
    if (outcome === "refused") {
      this.#failing.abort(new Error("The turn was written to at the same time"));
    }
    return outcome;
  }

  #schedule(): void {
    this.#hold();
    if (this.#writing) return;
    this.#writing = true;
    void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    try {
      // Chunks that are appended one after the other in the same moment are one write.
      await Promise.resolve();
      while (!this.failed.aborted && (this.#pending.length > 0 || this.#closing)) {
        const chunks = this.#pending;
        const isLast = this.#closing;
        this.#pending = [];
        this.#closing = false;
        const write: StreamWrite = {
          writer: this.#id,
          number: this.#nextNumber++,
          firstIndex: this.#nextIndex,
          chunks,
          isLast,
        };
        this.#nextIndex += chunks.length;
        await this.#hold().write(write);
      }
    } catch (error) {
      this.#failing.abort(error);
    }
    this.#writing = false;
    this.#follower.wake();
  }

  /** Must be called inside a step. */
  #hold(): Writer {
    if (!this.#held) {
      const writer = getWritable<StreamWrite>().getWriter();
      this.#held = { writer, leave: this.#follower.use(() => this.#checkOutcome()) };
      writer.closed.catch((error: unknown) => {
        // A released writer rejects as well.
        if (this.#held?.writer !== writer) return;
        this.#failing.abort(error);
        this.#follower.wake();
      });
    }
    return this.#held.writer;
  }
}
