/**
 * The order of a turn's chunks in the stream of its run.
 *
 * The SDK's streams have no owner: after a takeover that was premature, or a message that the queue has
 * delivered twice, two attempts of one step may write to the same stream. Each write therefore names its
 * writer and the index of its first chunk, and all readers apply one rule to the same sequence: a write
 * counts if it starts where the chunks before it end, and comes from the current writer or is the first
 * of a new one. So an index that was read once never changes, and a writer that has been superseded finds
 * out when it reads its own writes.
 */
export interface StreamWrite {
  /** An id for each opening of the log. */
  readonly writer: string;
  /** Counts the writes of this writer from 0. */
  readonly number: number;
  /** Index of the first chunk, counted over the whole turn. */
  readonly firstIndex: number;
  /** UI message chunks as JSON texts. */
  readonly chunks: readonly string[];
  /** Whether the turn's stream ends with this write. */
  readonly isLast: boolean;
}

type WriterState = "current" | "superseded" | "refused";

export class WriteOrder {
  /** The chunks that count, from index 0. */
  readonly chunks: string[] = [];
  #ended = false;
  #current: string | undefined;
  readonly #writers = new Map<string, { state: WriterState; lastNumber: number }>();
  /** Writes that start beyond the end: Worlds sort by the clocks of the machines that wrote. */
  #early: StreamWrite[] = [];

  get ended(): boolean {
    return this.#ended;
  }

  /** Adds the next write of the stream. A write that was added before changes nothing. */
  add(write: StreamWrite): void {
    if (write.number <= (this.#writers.get(write.writer)?.lastNumber ?? -1)) return;
    if (write.firstIndex > this.chunks.length) {
      this.#early.push(write);
      return;
    }
    this.#apply(write);
    const due = this.#early.findIndex(({ firstIndex }) => firstIndex <= this.chunks.length);
    const [next] = due < 0 ? [] : this.#early.splice(due, 1);
    if (next) this.add(next);
  }

  /** Returns the outcome of a writer's write; undefined while it has not been read. */
  outcomeOf(writer: string, number: number): WriterState | undefined {
    const known = this.#writers.get(writer);
    return known && known.lastNumber >= number ? known.state : undefined;
  }

  #apply(write: StreamWrite): void {
    const { writer, number, firstIndex } = write;
    const isEligible = writer === this.#current || number === 0;
    if (this.#ended || firstIndex !== this.chunks.length || !isEligible) {
      const state = this.#writers.get(writer)?.state ?? "refused";
      this.#writers.set(writer, { state, lastNumber: number });
      return;
    }
    const former = this.#current === undefined ? undefined : this.#writers.get(this.#current);
    if (former && writer !== this.#current) former.state = "superseded";
    this.#current = writer;
    this.#writers.set(writer, { state: "current", lastNumber: number });
    for (const chunk of write.chunks) this.chunks.push(chunk);
    this.#ended = write.isLast;
  }
}
