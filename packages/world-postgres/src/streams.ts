/**
 * The Workflow SDK's own streams: numbered chunks of bytes, which any process may write. The row of a
 * stream counts its chunks, and a write holds it until it is committed; so the chunks of concurrent
 * writers become visible in the order of their indexes.
 */
import type { GetChunksOptions, StreamChunksResponse, StreamInfoResponse } from "@workflow/world";
import type { Sql } from "./database.ts";
import { WakeUps } from "./wake-ups.ts";

/** A reader polls at this interval, should a notification be lost. */
const POLL_MS = 1_000;
/** Bounds a reader's memory: a chunk can be large. */
const CHUNKS_PER_READ = 20;
const DEFAULT_PAGE = 100;
const MAX_PAGE = 1_000;

export class Streams {
  readonly #sql: Sql;
  readonly #readers = new WakeUps();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Wakes the stream's readers, because it has new chunks or was closed. */
  wake(name: string): void {
    this.#readers.wake(name);
  }

  /** Appends chunks. A closed stream stays unchanged when a repeated step writes it again. */
  async write(name: string, runId: string, chunks: readonly (string | Uint8Array)[]) {
    if (chunks.length === 0) return;
    await this.#sql`
      with stream as (
        insert into engine.streams as s (name, run_id, next_index)
        values (${name}, ${runId}, ${chunks.length})
        on conflict (name) do update
          set next_index = s.next_index + excluded.next_index, written_at = now()
          where not s.closed
        returning next_index - ${chunks.length} as first_index),
      written as (
        insert into engine.stream_chunks (name, index, data)
        select ${name}, stream.first_index + chunk.place - 1, chunk.data
        from stream, unnest(${chunks.map((chunk) => Buffer.from(chunk))}::bytea[])
          with ordinality as chunk (data, place))
      select pg_notify('engine_streams', ${name}) from stream`;
  }

  async close(name: string, runId: string): Promise<void> {
    await this.#sql`
      with stream as (
        insert into engine.streams (name, run_id, next_index, closed)
        values (${name}, ${runId}, 0, true)
        on conflict (name) do update set closed = true, written_at = now())
      select pg_notify('engine_streams', ${name})`;
  }

  /**
   * Returns the chunks from `startIndex` on, and those to come, until the stream is closed.
   * @param startIndex counted from the end when negative, at least 0.
   */
  read(name: string, startIndex = 0): ReadableStream<Uint8Array> {
    const ended = new AbortController();
    let next = startIndex;
    return new ReadableStream({
      pull: async (controller) => {
        if (next < 0) next = Math.max(0, (await this.#state(name)).length + next);
        while (!ended.signal.aborted) {
          const change = this.#readers.next(name, ended.signal);
          const { closed, length } = await this.#state(name);
          const chunks = await this.#load(name, next, CHUNKS_PER_READ);
          if (chunks.length === 0 && !(closed && next >= length)) {
            await change.wait(POLL_MS);
            continue;
          }
          change.forget();
          for (const chunk of chunks) controller.enqueue(chunk.data);
          next += chunks.length;
          if (closed && next >= length) controller.close();
          return;
        }
      },
      cancel: () => ended.abort(),
    });
  }

  async names(runId: string): Promise<string[]> {
    const rows = await this
      .#sql`select name from engine.streams where run_id = ${runId} order by name`;
    return rows.map((row) => String(row.name));
  }

  /** Resolves with a page of the chunks that exist; the cursor is the index of the next one. */
  async chunks(name: string, options: GetChunksOptions = {}): Promise<StreamChunksResponse> {
    const limit = Math.min(options.limit ?? DEFAULT_PAGE, MAX_PAGE);
    const { closed, length } = await this.#state(name);
    const data = await this.#load(name, Number(options.cursor ?? 0), limit);
    const next = (data.at(-1)?.index ?? length) + 1;
    const hasMore = next < length;
    return { data, cursor: hasMore ? String(next) : null, hasMore, done: closed };
  }

  async info(name: string): Promise<StreamInfoResponse> {
    const { closed, length } = await this.#state(name);
    return { tailIndex: length - 1, done: closed };
  }

  async #state(name: string): Promise<{ length: number; closed: boolean }> {
    const [row] = await this.#sql`
      select next_index, closed from engine.streams where name = ${name}`;
    return { length: Number(row?.next_index ?? 0), closed: row?.closed === true };
  }

  async #load(name: string, from: number, limit: number) {
    const rows = await this.#sql`
      select index, data from engine.stream_chunks
      where name = ${name} and index >= ${from} order by index limit ${limit}`;
    return rows.map((row) => ({
      index: Number(row.index),
      data: new Uint8Array(row.data as Buffer),
    }));
  }
}
