/**
 * Lists and single look-ups of the Workflow SDK's `World`, for its tools. They read the database and work
 * on runs of every process. A cursor is the id of the last item of the page before.
 */
import { HookNotFoundError, WorkflowWorldError } from "@workflow/errors";
import {
  type Event,
  type Hook,
  type ListEventsByCorrelationIdParams,
  type ListEventsParams,
  type ListHooksParams,
  type ListWorkflowRunStepsParams,
  type ListWorkflowRunsParams,
  type PaginatedResponse,
  type PaginationOptions,
  type ResolveData,
  type Step,
  stripEventDataRefs,
  type WorkflowRun,
} from "@workflow/world";
import type { Row, Sql } from "./database.ts";
import { toEvent, toHook, toRun, toStep } from "./run-rows.ts";

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;

export class RunLists {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async runs(params: ListWorkflowRunsParams = {}): Promise<PaginatedResponse<WorkflowRun>> {
    const page = new Page(params.pagination, "desc");
    const rows = await this.#sql`
      select * from engine.runs
      where (${params.workflowName ?? null}::text is null or workflow_name = ${params.workflowName ?? null})
        and (${params.status ?? null}::text is null or status = ${params.status ?? null})
        and (${page.after}::text is null or run_id > ${page.after})
        and (${page.before}::text is null or run_id < ${page.before})
      order by case when ${page.ascending} then run_id end, run_id desc limit ${page.limit + 1}`;
    return page.of(rows, "run_id", (row) => withoutData(toRun(row), params.resolveData));
  }

  async step(runId: string | undefined, stepId: string, resolveData?: ResolveData): Promise<Step> {
    const [row] = await this.#sql`
      select s.*, e.data -> 'result' as output
      from engine.steps s left join engine.events e on e.run_id = s.run_id
        and e.correlation_id = s.step_id and e.type = 'step_completed'
      where s.step_id = ${stepId} and (${runId ?? null}::text is null or s.run_id = ${runId ?? null})`;
    if (!row) throw new WorkflowWorldError(`Step "${stepId}" not found`, { status: 404 });
    return withoutData(toStep(row), resolveData);
  }

  async steps(params: ListWorkflowRunStepsParams): Promise<PaginatedResponse<Step>> {
    const page = new Page(params.pagination, "desc");
    const rows = await this.#sql`
      select s.*, e.data -> 'result' as output
      from engine.steps s left join engine.events e on e.run_id = s.run_id
        and e.correlation_id = s.step_id and e.type = 'step_completed'
      where s.run_id = ${params.runId}
        and (${page.after}::text is null or s.step_id > ${page.after})
        and (${page.before}::text is null or s.step_id < ${page.before})
      order by case when ${page.ascending} then s.step_id end, s.step_id desc
      limit ${page.limit + 1}`;
    return page.of(rows, "step_id", (row) => withoutData(toStep(row), params.resolveData));
  }

  async event(runId: string, eventId: string, resolveData?: ResolveData): Promise<Event> {
    const [row] = await this.#sql`
      select * from engine.events where run_id = ${runId} and event_id = ${eventId}`;
    if (!row) throw new WorkflowWorldError(`Event "${eventId}" not found`, { status: 404 });
    return stripEventDataRefs(toEvent(row), resolveData ?? "all");
  }

  async events(
    params: ListEventsParams | ListEventsByCorrelationIdParams,
  ): Promise<PaginatedResponse<Event>> {
    const page = new Page(params.pagination, "asc");
    const correlationId = "correlationId" in params ? params.correlationId : null;
    const rows = await this.#sql`
      select * from engine.events
      where (${params.runId ?? null}::text is null or run_id = ${params.runId ?? null})
        and (${correlationId}::text is null or correlation_id = ${correlationId})
        and (${page.after}::text is null or event_id > ${page.after})
        and (${page.before}::text is null or event_id < ${page.before})
      order by case when ${page.ascending} then event_id end, event_id desc
      limit ${page.limit + 1}`;
    return page.of(rows, "event_id", (row) =>
      stripEventDataRefs(toEvent(row), params.resolveData ?? "all"),
    );
  }

  async hook(hookId: string, resolveData?: ResolveData): Promise<Hook> {
    const [row] = await this.#sql`select * from engine.hooks where hook_id = ${hookId}`;
    if (!row) throw new HookNotFoundError(hookId);
    return withoutMetadata(toHook(row), resolveData);
  }

  async hookByToken(token: string, resolveData?: ResolveData): Promise<Hook> {
    const [row] = await this.#sql`select * from engine.hooks where token = ${token}`;
    if (!row) throw new HookNotFoundError(token);
    return withoutMetadata(toHook(row), resolveData);
  }

  async hooks(params: ListHooksParams): Promise<PaginatedResponse<Hook>> {
    const page = new Page(params.pagination, "desc");
    const rows = await this.#sql`
      select * from engine.hooks
      where (${params.runId ?? null}::text is null or run_id = ${params.runId ?? null})
        and (${page.after}::text is null or hook_id > ${page.after})
        and (${page.before}::text is null or hook_id < ${page.before})
      order by case when ${page.ascending} then hook_id end, hook_id desc
      limit ${page.limit + 1}`;
    return page.of(rows, "hook_id", (row) => withoutMetadata(toHook(row), params.resolveData));
  }
}

/** One page of a list that is ordered by the id of its items. */
class Page {
  readonly ascending: boolean;
  readonly limit: number;
  readonly after: string | null;
  readonly before: string | null;

  constructor(options: PaginationOptions = {}, defaultOrder: "asc" | "desc") {
    // The SDK's tools send an empty one for the first page.
    const cursor = options.cursor || null;
    this.ascending = (options.sortOrder ?? defaultOrder) === "asc";
    this.limit = Math.min(options.limit ?? DEFAULT_LIMIT, MAX_LIMIT);
    this.after = this.ascending ? cursor : null;
    this.before = this.ascending ? null : cursor;
  }

  /** @param rows of the query, one more than the page has if there is another page. */
  of<T>(rows: readonly Row[], id: string, toItem: (row: Row) => T): PaginatedResponse<T> {
    const kept = rows.slice(0, this.limit);
    const last = kept.at(-1)?.[id];
    return {
      data: kept.map(toItem),
      cursor: last === undefined ? null : String(last),
      hasMore: rows.length > kept.length,
    };
  }
}

export const withoutData = <T extends WorkflowRun | Step>(item: T, resolveData?: ResolveData): T =>
  resolveData === "none" ? { ...item, input: undefined, output: undefined } : item;

const withoutMetadata = (hook: Hook, resolveData?: ResolveData): Hook =>
  resolveData === "none" ? { ...hook, metadata: undefined } : hook;
