import type { Event, Step, WorkflowRun } from "@workflow/world";
import { Batches } from "./batches.ts";
import type { Sql } from "./database.ts";
import { encodeEventData } from "./event-data.ts";
import {
  dataOf,
  SPEC_VERSION,
  type StructuredError,
  toBytes,
  toEvent,
  toRun,
  toStep,
} from "./run-rows.ts";

export interface RunEnd {
  readonly status: "completed" | "failed" | "cancelled";
  readonly output?: Uint8Array;
  readonly error?: StructuredError;
}

interface NewRun {
  readonly run: WorkflowRun;
  readonly created: Event;
  readonly started: Event;
}

interface EndedRun {
  readonly end: RunEnd;
  readonly event: Event;
}

export interface StepChange {
  readonly status: "running" | "pending" | "completed" | "failed";
  readonly attempt?: number;
  readonly error?: StructuredError;
  readonly retryAfter?: Date | undefined;
}

/** The channel that announces runs without an owner to all processes. */
export const FREE_RUNS = "engine_free_runs";
/** The owner of a run that no process executes: a live process adopts it. */
const NO_OWNER = "00000000-0000-0000-0000-000000000000";

/**
 * The statements that write runs and steps. Every write has the owner in its predicate, so a process that
 * has lost a run changes nothing: its inserts return false and its updates undefined. It locks the run,
 * so a takeover waits for writes in flight, and then reads them.
 */
export class RunTables {
  readonly #sql: Sql;
  readonly #owner: string;
  readonly #insertions = new Batches((news: readonly NewRun[]) => this.#insertRuns(news));
  readonly #ends = new Batches((ended: readonly EndedRun[]) => this.#endRuns(ended));

  constructor(sql: Sql, owner: string) {
    this.#sql = sql;
    this.#owner = owner;
  }

  /**
   * Makes this process the owner of at most `limit` runs that have none, the oldest first, and
   * returns their ids. Processes that adopt at the same time get different runs.
   */
  async adopt(limit: number): Promise<string[]> {
    const rows = await this.#sql`
      with instance as (select id from engine.instances where id = ${this.#owner} for key share),
      free as (
        select run_id from engine.runs
        where owner = ${NO_OWNER} and status = 'running' and exists (select from instance)
        order by created_at limit ${limit} for update skip locked)
      update engine.runs r set owner = ${this.#owner}, updated_at = now()
      from free where r.run_id = free.run_id returning r.run_id`;
    return rows.map((row) => String(row.run_id));
  }

  /** Returns the ids of the running runs that this process owns. */
  async ownRunIds(): Promise<string[]> {
    const rows = await this.#sql`
      select run_id from engine.runs where owner = ${this.#owner} and status = 'running'`;
    return rows.map((row) => String(row.run_id));
  }

  /** Clears the owner of the given runs that this process owns, and notifies the other processes. */
  async release(runIds: readonly string[]): Promise<void> {
    await this.#sql`
      with free as (
        update engine.runs set owner = ${NO_OWNER}, updated_at = now()
        where run_id = any(${runIds}::text[]) and owner = ${this.#owner} and status = 'running'
        returning run_id)
      select pg_notify(${FREE_RUNS}, '') where exists (select from free)`;
  }

  async notifyOwner(runId: string): Promise<void> {
    await this.#sql`select pg_notify('engine_runs', ${runId})`;
  }

  async run(runId: string): Promise<WorkflowRun | undefined> {
    const [row] = await this.#sql`select * from engine.runs where run_id = ${runId}`;
    return row && toRun(row);
  }

  /** Resolves with the run if it is running and this process is its owner. */
  async ownedRun(runId: string): Promise<WorkflowRun | undefined> {
    const [row] = await this.#sql`
      select * from engine.runs
      where run_id = ${runId} and owner = ${this.#owner} and status = 'running'`;
    return row && toRun(row);
  }

  async steps(runId: string): Promise<Step[]> {
    const rows = await this.#sql`select * from engine.steps where run_id = ${runId}`;
    return rows.map(toStep);
  }

  async events(runId: string): Promise<Event[]> {
    const rows = await this
      .#sql`select * from engine.events where run_id = ${runId} order by event_id`;
    return rows.map(toEvent);
  }

  /** A run that is created by a process without a row in `engine.instances` has no owner. */
  insertRun(
    run: WorkflowRun,
    created: Event,
    started: Event,
  ): Promise<"owned" | "free" | "exists"> {
    return this.#insertions.add({ run, created, started });
  }

  async #insertRuns(news: readonly NewRun[]): Promise<("owned" | "free" | "exists")[]> {
    const column = <T>(value: (each: NewRun) => T): T[] => news.map(value);
    const rows = await this.#sql`
      with instance as (select id from engine.instances where id = ${this.#owner} for key share),
      given as (
        select * from unnest(
          ${column(({ run }) => run.runId)}::text[],
          ${column(({ run }) => run.workflowName)}::text[],
          ${column(({ run }) => run.deploymentId)}::text[],
          ${column(({ run }) => toBytes(run.input))}::bytea[],
          ${column(({ run }) => encodeEventData(run.executionContext))}::text[],
          ${column(({ created }) => created.eventId)}::text[],
          ${column(({ created }) => encodeEventData(dataOf(created)))}::text[],
          ${column(({ started }) => started.eventId)}::text[],
          ${column(({ run }) => run.createdAt)}::timestamptz[]
        ) as run (id, workflow, deployment, input, context, created, data, started, at)),
      run as (
        insert into engine.runs (run_id, workflow_name, deployment_id, spec_version, status, input,
          execution_context, owner, created_at, started_at, updated_at)
        select id, workflow, deployment, ${SPEC_VERSION}, 'running', input, context::jsonb,
          coalesce((select id from instance), ${NO_OWNER}::uuid), at, at, at
        from given
        on conflict do nothing returning run_id, owner),
      events as (
        insert into engine.events (run_id, event_id, type, data, created_at)
        select run.run_id, event.id, event.type, event.data::jsonb, given.at
        from run join given on given.id = run.run_id, lateral (values
          (given.created, 'run_created', given.data), (given.started, 'run_started', null))
          as event (id, type, data))
      select run_id, owner,
        case owner when ${NO_OWNER}::uuid then pg_notify(${FREE_RUNS}, '')::text end
      from run`;
    const owners = new Map(rows.map(({ run_id, owner }) => [run_id, owner]));
    return news.map(({ run }) => {
      const owner = owners.get(run.runId);
      if (owner === undefined) return "exists";
      return owner === NO_OWNER ? "free" : "owned";
    });
  }

  /**
   * Ends a run and its hooks. Any process may cancel a run; only the owner completes or fails it.
   * @returns the run, unless it has ended or is another process's
   */
  endRun(end: RunEnd, event: Event): Promise<WorkflowRun | undefined> {
    return this.#ends.add({ end, event });
  }

  async #endRuns(ended: readonly EndedRun[]): Promise<(WorkflowRun | undefined)[]> {
    const column = <T>(value: (each: EndedRun) => T): T[] => ended.map(value);
    const rows = await this.#sql`
      with given as (
        select * from unnest(
          ${column(({ event }) => event.runId)}::text[],
          ${column(({ end }) => end.status)}::text[],
          ${column(({ end }) => end.output ?? null)}::bytea[],
          ${column(({ end }) => encodeEventData(end.error))}::text[],
          ${column(({ event }) => event.eventId)}::text[],
          ${column(({ event }) => event.eventType)}::text[],
          ${column(({ event }) => encodeEventData(dataOf(event)))}::text[],
          ${column(({ event }) => event.createdAt)}::timestamptz[]
        ) as ended (run_id, status, output, error, event_id, type, data, at)),
      run as (
        update engine.runs r set status = given.status, output = given.output,
          error = given.error::jsonb, completed_at = given.at, updated_at = given.at
        from given
        where r.run_id = given.run_id and r.status = 'running'
          and (r.owner = ${this.#owner} or given.status = 'cancelled')
        returning r.*, given.event_id as ended_by),
      hooks as (delete from engine.hooks where run_id in (select run_id from run)),
      events as (
        insert into engine.events (run_id, event_id, type, data, created_at)
        select given.run_id, given.event_id, given.type, given.data::jsonb, given.at
        from run join given on given.event_id = run.ended_by)
      select * from run`;
    const runs = new Map(rows.map((row) => [row.ended_by, toRun(row)]));
    return ended.map(({ event }) => runs.get(event.eventId));
  }

  async insertStep(step: Step, created: Event, started: Event): Promise<boolean> {
    const { runId, stepId, stepName, createdAt: now } = step;
    const rows = await this.#sql`
      with run as (
        select run_id from engine.runs
        where run_id = ${runId} and owner = ${this.#owner} and status = 'running' for share),
      step as (
        insert into engine.steps (run_id, step_id, name, status, input, attempt, created_at,
          started_at, updated_at)
        select run_id, ${stepId}, ${stepName}, 'running', ${toBytes(step.input)}::bytea, 1,
          ${now}::timestamptz, ${now}::timestamptz, ${now}::timestamptz
        from run on conflict do nothing returning run_id)
      insert into engine.events (run_id, event_id, type, correlation_id, data, created_at)
      select step.run_id, event.id, event.type, ${stepId}, event.data::jsonb, ${now}::timestamptz
      from step, (values
        (${created.eventId}, 'step_created', ${encodeEventData(dataOf(created))}),
        (${started.eventId}, 'step_started', ${encodeEventData(dataOf(started))}))
        as event (id, type, data)
      returning event_id`;
    return rows.length > 0;
  }

  async updateStep(stepId: string, change: StepChange, event: Event): Promise<Step | undefined> {
    const { runId, createdAt: now } = event;
    const hasEnded = change.status === "completed" || change.status === "failed";
    const [row] = await this.#sql`
      with run as (
        select run_id from engine.runs
        where run_id = ${runId} and owner = ${this.#owner} and status = 'running' for share),
      step as (
        update engine.steps set status = ${change.status},
          attempt = coalesce(${change.attempt ?? null}, attempt),
          error = coalesce(${encodeEventData(change.error)}, error),
          retry_after = ${change.retryAfter ?? null},
          completed_at = ${hasEnded ? now : null}, updated_at = ${now}
        from run
        where steps.run_id = run.run_id and step_id = ${stepId} and status in ('pending', 'running')
        returning steps.*),
      event as (
        insert into engine.events (run_id, event_id, type, correlation_id, data, created_at)
        select run_id, ${event.eventId}, ${event.eventType}, ${stepId},
          ${encodeEventData(dataOf(event))}::jsonb, ${now}::timestamptz from step)
      select * from step`;
    return row && toStep(row);
  }
}
