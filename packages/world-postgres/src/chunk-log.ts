/**
 * The UI message stream of each turn, as an append-only log.
 *
 * A chunk is committed before any reader sees it, so an index that a client holds stays valid after a
 * crash. One write is in flight at a time; it carries the chunks that all turns of this process have
 * appended since the previous one, so a thousand deltas a second cost a few hundred commits.
 */
import type { Sql } from "./database.ts";
import { WakeUps } from "./wake-ups.ts";

/** The stream is closed, or its run belongs to another process. */
class StreamLostError extends Error {
  override readonly name = "StreamLostError";
}

const lost = ({ stream }: Writer) => new StreamLostError(`Stream ${stream} has another writer`);

interface Writer {
  readonly stream: string;
  readonly runId: string;
  /** Committed chunks, from index 0. */
  readonly committed: string[];
  /** Appended chunks that are in no write yet. */
  pending: string[];
  closing: boolean;
  closed: boolean;
  readonly failing: AbortController;
  /** Called after each write of this stream that was committed, and when the writer fails. */
  settled: (() => void)[];
}

/** A reader of another process's stream polls at this interval, should a notification be lost. */
const POLL_MS = 1_000;

export class ChunkLog {
  readonly #sql: Sql;
  readonly #owner: string;
  readonly #writers = new Map<string, Writer>();
  readonly #readers = new WakeUps();
  /** Writers with pending chunks. */
  readonly #dirty = new Set<Writer>();
  /** Writers with chunks in the current write. */
  readonly #inFlight = new Set<Writer>();
  #writing = false;
  /** Whether readers leave the streams that other processes write. */
  #draining = false;

  constructor(sql: Sql, owner: string) {
    this.#sql = sql;
    this.#owner = owner;
  }

  /** Wakes the stream's readers, because it has new chunks or has ended. */
  wake(stream: string): void {
    this.#readers.wake(stream);
  }

  /**
   * Makes this process the writer of a stream, in place of an earlier attempt.
   * @param fresh whether nothing can have been written yet, which saves a query.
   */
  async open(stream: string, runId: string, fresh: boolean) {
    const earlier = this.#writers.get(stream);
    if (earlier) await this.#supersede(earlier);
    const { chunks, closed } =
      fresh && !earlier ? { chunks: [], closed: false } : await this.#load(stream, 0);
    const writer: Writer = {
      stream,
      runId,
      committed: chunks,
      pending: [],
      closing: false,
      closed,
      failing: new AbortController(),
      settled: [],
    };
    this.#writers.set(stream, writer);
    return {
      failed: writer.failing.signal,
      committed: () => writer.committed,
      append: (more: readonly string[]) => this.#append(writer, more),
      flushed: () => this.#flushed(writer),
      close: (last: readonly string[]) => this.#close(writer, last),
      release: () => {
        writer.pending = [];
        // An end that is in no write yet is dropped as well.
        if (this.#dirty.delete(writer)) writer.closing = false;
        this.#settle(writer);
      },
    };
  }

  /** Ends an attempt. The next attempt must know its write in flight. */
  async #supersede(writer: Writer): Promise<void> {
    writer.failing.abort(lost(writer));
    this.#dirty.delete(writer);
    this.#settle(writer);
    while (this.#inFlight.has(writer)) {
      await new Promise<void>((resolve) => writer.settled.push(resolve));
    }
    this.#forget(writer);
  }

  #append(writer: Writer, chunks: readonly string[]): void {
    writer.failing.signal.throwIfAborted();
    if (writer.closed || writer.closing) {
      throw new StreamLostError(`Stream ${writer.stream} is closed`);
    }
    // A row without chunks would have the primary key of the next one.
    if (chunks.length === 0) return;
    for (const chunk of chunks) writer.pending.push(chunk);
    this.#schedule(writer);
  }

  async #flushed(writer: Writer): Promise<void> {
    const { signal } = writer.failing;
    while (!signal.aborted && (this.#dirty.has(writer) || this.#inFlight.has(writer))) {
      await new Promise<void>((resolve) => writer.settled.push(resolve));
    }
    signal.throwIfAborted();
  }

  /** The last chunks are in one write with the end, because no reader may see one without the other. */
  async #close(writer: Writer, last: readonly string[]): Promise<void> {
    writer.failing.signal.throwIfAborted();
    if (!writer.closed && !writer.closing) {
      for (const chunk of last) writer.pending.push(chunk);
      writer.closing = true;
      this.#schedule(writer);
    }
    await this.#flushed(writer);
    this.#forget(writer);
  }

  /** Resolves with the index of the last committed chunk; -1 when there is none. */
  async tail(stream: string): Promise<number> {
    const writer = this.#writers.get(stream);
    if (writer) return writer.committed.length - 1;
    const [row] = await this.#sql`
      select coalesce(max(first_index + count), 0) as next from engine.chunks where stream = ${stream}`;
    return Number(row?.next ?? 0) - 1;
  }

  /**
   * Yields every chunk from `startIndex` on, each once, until the stream is closed, its run has
   * ended without closing it, `signal` aborts, or this process drains and does not write it.
   * @param isNew whether this process has just started the run, whose log is still empty
   */
  async *read(
    stream: string,
    runId: string | null,
    startIndex: number,
    signal: AbortSignal,
    isNew = false,
  ): AsyncGenerator<{ firstIndex: number; chunks: string[] }, "ended" | "moved"> {
    let next = startIndex;
    if (isNew && !this.#draining && !this.#writers.has(stream)) {
      await this.#readers.next(stream, signal).wait(POLL_MS);
    }
    while (!signal.aborted) {
      const change = this.#readers.next(stream, signal);
      const writer = this.#writers.get(stream);
      const { chunks, closed } = writer
        ? { chunks: writer.committed.slice(next), closed: writer.closed }
        : await this.#load(stream, next, runId).catch((error: unknown) => {
            change.forget();
            throw error;
          });
      if (chunks.length === 0 && !closed && (writer || !this.#draining)) {
        await change.wait(writer ? undefined : POLL_MS);
        continue;
      }
      change.forget();
      if (chunks.length > 0) yield { firstIndex: next, chunks };
      next += chunks.length;
      if (closed) return "ended";
      if (this.#draining && !writer) return "moved";
    }
    return "moved";
  }

  /** Ends the readings of streams that other processes write, now and from now on. */
  drain(): void {
    this.#draining = true;
    this.#readers.wakeAll();
  }

  /** Fails the writers of these runs, because they have been released. */
  release(runIds: ReadonlySet<string>): void {
    for (const writer of [...this.#writers.values()]) {
      if (runIds.has(writer.runId)) this.#fail(writer, lost(writer));
    }
  }

  /** Fails all writers, because another process has taken over their runs. */
  dropAll(): void {
    for (const writer of [...this.#writers.values()]) this.#fail(writer, lost(writer));
  }

  #schedule(writer: Writer): void {
    this.#dirty.add(writer);
    if (!this.#writing) void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#writing = true;
    while (this.#dirty.size > 0) {
      const batch = [...this.#dirty].map((writer) => {
        const chunks = writer.pending;
        writer.pending = [];
        this.#inFlight.add(writer);
        return { writer, chunks, eof: writer.closing };
      });
      this.#dirty.clear();
      const outcome = await this.#insert(batch).catch((error: unknown) =>
        // The write may have been committed; the next attempt of the step reads the log again.
        error instanceof Error ? error : new Error(String(error)),
      );
      this.#inFlight.clear();
      for (const { writer, chunks, eof } of batch) {
        if (outcome instanceof Error) this.#fail(writer, outcome);
        else if (!outcome.has(writer.stream)) {
          this.#fail(writer, lost(writer));
        } else {
          for (const chunk of chunks) writer.committed.push(chunk);
          writer.closed = eof;
          this.wake(writer.stream);
          this.#settle(writer);
        }
      }
    }
    this.#writing = false;
  }

  async #insert(
    batch: readonly { writer: Writer; chunks: readonly string[]; eof: boolean }[],
  ): Promise<Set<string>> {
    const rows = await this.#sql`
      with written as (
        insert into engine.chunks (stream, first_index, count, data, eof)
        select w.stream, w.first_index, w.count, w.data, w.eof = 1
        from unnest(
          ${batch.map(({ writer }) => writer.stream)}::uuid[],
          ${batch.map(({ writer }) => writer.runId)}::text[],
          ${batch.map(({ writer }) => writer.committed.length)}::int[],
          ${batch.map(({ chunks }) => chunks.length)}::int[],
          ${batch.map(({ chunks }) => chunks.join("\n"))}::text[],
          ${batch.map(({ eof }) => Number(eof))}::int[]
        ) as w (stream, run_id, first_index, count, data, eof)
        join engine.runs r on r.run_id = w.run_id and r.owner = ${this.#owner}
        on conflict do nothing
        returning stream)
      select stream, pg_notify('engine_chunks', stream::text) from written`;
    return new Set(rows.map((row) => String(row.stream)));
  }

  #fail(writer: Writer, error: Error): void {
    writer.failing.abort(error);
    this.#dirty.delete(writer);
    this.#forget(writer);
    this.#settle(writer);
  }

  #settle(writer: Writer): void {
    const settled = writer.settled;
    writer.settled = [];
    for (const resolve of settled) resolve();
  }

  #forget(writer: Writer): void {
    if (this.#writers.get(writer.stream) === writer) this.#writers.delete(writer.stream);
    this.wake(writer.stream);
  }

  async #load(
    stream: string,
    from: number,
    runId: string | null = null,
  ): Promise<{ chunks: string[]; closed: boolean }> {
    const rows = await this.#sql`
      select first_index, count, data, eof from engine.chunks
      where stream = ${stream} and (first_index + count > ${from} or eof)
      union all
      select 2147483647, 0, '', true
      where ${runId}::text is not null
        and not exists (select from engine.runs where run_id = ${runId} and status = 'running')
      order by first_index`;
    const chunks: string[] = [];
    for (const row of rows) {
      const lines = Number(row.count) === 0 ? [] : String(row.data).split("\n");
      for (const line of lines.slice(Math.max(0, from - Number(row.first_index))))
        chunks.push(line);
    }
    return { chunks, closed: rows.some((row) => row.eof === true) };
  }
}
