import type { CreateHookRequest, Event, Hook } from "@workflow/world";
import type { Sql } from "./database.ts";
import { encodeEventData } from "./event-data.ts";
import { dataOf, toEvent, toHook } from "./run-rows.ts";

export type NewHook = Omit<CreateHookRequest, "hookId">;

/** An event in the inbox of a run, which has no place in the run's order yet. */
export interface InboxEntry {
  readonly id: string;
  readonly event: Event;
}

/**
 * The statements on hooks, on the inbox of a run, and on events that change neither run nor step.
 * Writes by the owner have it in their predicate and return false when it has lost the run.
 */
export class HookTables {
  readonly #sql: Sql;
  readonly #owner: string;

  constructor(sql: Sql, owner: string) {
    this.#sql = sql;
    this.#owner = owner;
  }

  async insertEvent(event: Event): Promise<boolean> {
    const rows = await this.#sql`
      with run as (
        select run_id from engine.runs
        where run_id = ${event.runId} and owner = ${this.#owner} and status = 'running' for share)
      insert into engine.events (run_id, event_id, type, correlation_id, data, created_at)
      select run_id, ${event.eventId}, ${event.eventType}, ${event.correlationId ?? null},
        ${encodeEventData(dataOf(event))}::jsonb, ${event.createdAt}::timestamptz
      from run returning event_id`;
    return rows.length > 0;
  }

  /** Returns undefined when another hook has the token, this hook exists, or the run is lost. */
  async insertHook(hook: NewHook, event: Event): Promise<Hook | undefined> {
    const { runId, eventId, createdAt: now } = event;
    const [row] = await this.#sql`
      with run as (
        select run_id from engine.runs
        where run_id = ${runId} and owner = ${this.#owner} and status = 'running' for share),
      hook as (
        insert into engine.hooks (run_id, hook_id, token, is_webhook, metadata, created_at)
        select run_id, ${event.correlationId ?? null}, ${hook.token}, ${hook.isWebhook ?? false},
          ${hook.metadata ?? null}::bytea, ${now}::timestamptz
        from run on conflict do nothing returning *),
      event as (
        insert into engine.events (run_id, event_id, type, correlation_id, data, created_at)
        select run_id, ${eventId}, 'hook_created', hook_id,
          ${encodeEventData(dataOf(event))}::jsonb, created_at from hook)
      select * from hook`;
    return row && toHook(row);
  }

  async holderOf(token: string): Promise<Hook | undefined> {
    const [row] = await this.#sql`select * from engine.hooks where token = ${token}`;
    return row && toHook(row);
  }

  async deleteHook(event: Event): Promise<boolean> {
    const rows = await this.#sql`
      with run as (
        select run_id from engine.runs
        where run_id = ${event.runId} and owner = ${this.#owner} and status = 'running' for share),
      hook as (
        delete from engine.hooks using run
        where hooks.run_id = run.run_id and hook_id = ${event.correlationId ?? null}
        returning hooks.run_id)
      insert into engine.events (run_id, event_id, type, correlation_id, data, created_at)
      select run_id, ${event.eventId}, ${event.eventType}, ${event.correlationId ?? null},
        ${encodeEventData(dataOf(event))}::jsonb, ${event.createdAt}::timestamptz
      from hook returning event_id`;
    return rows.length > 0;
  }

  /** Sends a payload to a run. Any process may; false without such a hook. */
  async postPayload(event: Event): Promise<boolean> {
    const rows = await this.#sql`
      insert into engine.inbox (run_id, type, correlation_id, data)
      select run_id, ${event.eventType}, hook_id, ${encodeEventData(dataOf(event))}::jsonb
      from engine.hooks
      where run_id = ${event.runId} and hook_id = ${event.correlationId ?? null} returning id`;
    return rows.length > 0;
  }

  /** Ends a wait before its time. Any process may; false without such a wait, or when it has ended. */
  async postWaitEnd(event: Event): Promise<boolean> {
    const rows = await this.#sql`
      insert into engine.inbox (run_id, type, correlation_id, data)
      select w.run_id, ${event.eventType}, w.correlation_id,
        ${encodeEventData(dataOf(event))}::jsonb
      from engine.events w join engine.runs r using (run_id)
      where w.run_id = ${event.runId} and w.correlation_id = ${event.correlationId ?? null}
        and w.type = 'wait_created' and r.status = 'running'
        and not exists (select from engine.events e where e.run_id = w.run_id
          and e.correlation_id = w.correlation_id and e.type = 'wait_completed')
      returning id`;
    return rows.length > 0;
  }

  async inbox(runId: string): Promise<InboxEntry[]> {
    const rows = await this.#sql`
      select id, run_id, 'wevt_' || id as event_id, type, correlation_id, data,
        posted_at as created_at
      from engine.inbox where run_id = ${runId} order by id`;
    return rows.map((row) => ({ id: String(row.id), event: toEvent(row) }));
  }

  /**
   * Moves entries of the inbox to the events of their run, all or none.
   * @param eventIds one for each entry; null discards it.
   */
  async accept(
    runId: string,
    entries: readonly InboxEntry[],
    eventIds: readonly (string | null)[],
  ) {
    const rows = await this.#sql`
      with run as (
        select run_id from engine.runs
        where run_id = ${runId} and owner = ${this.#owner} and status = 'running' for share),
      taken as (
        delete from engine.inbox using run
        where inbox.run_id = run.run_id and id = any(${entries.map(({ id }) => id)}::bigint[])
        returning inbox.*),
      event as (
        insert into engine.events (run_id, event_id, type, correlation_id, data, created_at)
        select run_id, accepted.event_id, type, correlation_id, data, posted_at
        from taken join unnest(${entries.map(({ id }) => id)}::bigint[], ${eventIds}::text[])
          as accepted (id, event_id) using (id)
        where accepted.event_id is not null)
      select run_id from run`;
    return rows.length > 0;
  }
}
