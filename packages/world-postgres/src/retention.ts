/**
 * Deletes the data of ended runs. A pass deletes in small batches and skips the rows that another process
 * is deleting, so all processes share the work and none of them blocks a turn.
 */
import type { Sql } from "./database.ts";

/** Days after its end that a run is kept, with its steps, events and hooks, and the stream of a turn. */
const RETENTION_DAYS = 1;
const BATCH = 500;
const MAX_BATCHES = 200;
/** A stream that was never closed belongs to a run that was lost. No turn lasts as long. */
const LOST_DAYS = 30;

export async function sweepEngine(sql: Sql): Promise<void> {
  await inBatches(
    () => sql`
      with ended as (
        select run_id from engine.runs where completed_at < now() - make_interval(days => ${RETENTION_DAYS})
        limit ${BATCH} for update skip locked)
      delete from engine.runs r using ended where r.run_id = ended.run_id returning r.run_id`,
  );
  // A whole stream at a time: without its last row it would count as lost.
  await inBatches(
    () => sql`
      with ended as (
        select stream from engine.chunks
        where eof and written_at < now() - make_interval(days => ${RETENTION_DAYS})
        limit ${BATCH} for update skip locked),
      gone as (delete from engine.chunks c using ended where c.stream = ended.stream)
      select stream from ended`,
  );
  await inBatches(
    () => sql`
      delete from engine.chunks where (stream, first_index) in (
        select stream, first_index from engine.chunks
        where written_at < now() - make_interval(days => ${RETENTION_DAYS + LOST_DAYS})
        limit ${BATCH} for update skip locked)
      returning stream`,
  );
  await inBatches(
    () => sql`
      delete from engine.streams where name in (
        select name from engine.streams s
        where written_at < now() - make_interval(days => ${RETENTION_DAYS}) and not exists (
          select from engine.runs r where r.run_id = s.run_id and r.status = 'running')
        limit ${BATCH} for update skip locked)
      returning name`,
  );
}

async function inBatches(remove: () => Promise<readonly unknown[]>): Promise<void> {
  for (let batch = 1; batch <= MAX_BATCHES; batch++) {
    if ((await remove()).length < BATCH) return;
  }
}
