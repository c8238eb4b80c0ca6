/**
 * The event-sourced run state of the Workflow SDK's `World`, in PostgreSQL.
 *
 * A run has one owner, a live process, and every write carries `owner = me` in its predicate: a
 * process that lost a run cannot write to it. So the owner may also answer every read from memory,
 * and writes what the SDK would otherwise write one by one in one statement: a run is created and
 * started together, and a step is created and started together. What the SDK sees is the same.
 * A model call then costs two statements, not ten.
 */
import {
  EntityConflictError,
  RunExpiredError,
  WorkflowRunNotFoundError,
  WorkflowWorldError,
} from "@workflow/errors";
import {
  type CreateEventRequest,
  type Event,
  type EventResult,
  type RunCreatedEventRequest,
  SPEC_VERSION_CURRENT,
  type Step,
  type WorkflowRun,
} from "@workflow/world";
import { monotonicFactory } from "ulid";
import type { Row, Sql } from "./database.ts";
import { decodeEventData, encodeEventData } from "./event-data.ts";

interface OwnedRun {
  run: WorkflowRun;
  readonly events: Event[];
  readonly steps: Map<string, OwnedStep>;
}

interface OwnedStep {
  step: Step;
  /** The first attempt was recorded when the step was created; the SDK has yet to ask for it. */
  startedOnCreation: boolean;
}

type EventRequest = CreateEventRequest | RunCreatedEventRequest;
type EventOf<T extends EventRequest["eventType"]> = Extract<EventRequest, { eventType: T }>;

const lost = (runId: string) => `Run "${runId}" is not owned by this process`;

export class RunStore {
  readonly #sql: Sql;
  readonly #owner: string;
  readonly #owned = new Map<string, OwnedRun>();
  readonly #creating = new Map<string, Promise<EventResult>>();
  /** Ids order the events of a run; nothing depends on their being hard to guess. */
  readonly #nextUlid = monotonicFactory(Math.random);

  constructor(sql: Sql, owner: string) {
    this.#sql = sql;
    this.#owner = owner;
  }

  owns(runId: string): boolean {
    return this.#owned.has(runId) || this.#creating.has(runId);
  }

  /** Forgets all runs, as after another process has taken them over. */
  dropAll(): void {
    this.#owned.clear();
  }

  /**
   * Makes this process the owner of the running runs of `formerOwner`, a process known to be dead.
   * @returns the runs to go on with.
   */
  async takeOver(formerOwner: string): Promise<WorkflowRun[]> {
    const rows = await this.#sql`
      update engine.runs set owner = ${this.#owner}, updated_at = now()
      where owner = ${formerOwner} and status = 'running' returning run_id`;
    return Promise.all(rows.map((row) => this.#load(String(row.run_id))));
  }

  async #load(runId: string): Promise<WorkflowRun> {
    const [run] = await this.#sql`select * from engine.runs where run_id = ${runId}`;
    if (!run) throw new WorkflowRunNotFoundError(runId);
    const [steps, events] = await Promise.all([
      this.#sql`select * from engine.steps where run_id = ${runId}`,
      this.#sql`select * from engine.events where run_id = ${runId} order by event_id`,
    ]);
    const owned: OwnedRun = {
      run: runOf(run),
      events: events.map(eventOf),
      steps: new Map(
        steps.map(stepOf).map((step) => [step.stepId, { step, startedOnCreation: false }]),
      ),
    };
    this.#owned.set(runId, owned);
    return owned.run;
  }

  async run(runId: string): Promise<WorkflowRun> {
    const owned = this.#owned.get(runId);
    if (owned) return owned.run;
    const [row] = await this.#sql`select * from engine.runs where run_id = ${runId}`;
    if (!row) throw new WorkflowRunNotFoundError(runId);
    return runOf(row);
  }

  async events(runId: string): Promise<Event[]> {
    const owned = this.#owned.get(runId);
    if (owned) return [...owned.events];
    const rows = await this
      .#sql`select * from engine.events where run_id = ${runId} order by event_id`;
    return rows.map(eventOf);
  }

  async create(runId: string, request: EventRequest): Promise<EventResult> {
    switch (request.eventType) {
      case "run_created":
        return this.#createRunOnce(runId, request.eventData);
      case "run_started":
        return this.#startRun(runId, request);
      case "run_completed":
        return this.#endRun(runId, request, "completed", bytes(request.eventData.output), null);
      case "run_failed":
        return this.#endRun(runId, request, "failed", null, structuredError(request.eventData));
      case "run_cancelled":
        return this.#endRun(runId, request, "cancelled", null, null);
      case "step_created":
        return this.#createStep(runId, request);
      case "step_started":
        return this.#startStep(runId, request);
      case "step_completed":
        return this.#changeStep(runId, request, { status: "completed" });
      case "step_failed":
        return this.#changeStep(runId, request, {
          status: "failed",
          error: structuredError(request.eventData),
        });
      case "step_retrying":
        return this.#changeStep(runId, request, {
          status: "pending",
          error: structuredError(request.eventData),
          retryAfter: request.eventData.retryAfter,
        });
      default:
        throw new WorkflowWorldError(`Event "${request.eventType}" is not used by this engine`);
    }
  }

  #createRunOnce(runId: string, data: EventOf<"run_created">["eventData"]): Promise<EventResult> {
    const creating = this.#createRun(runId, data).finally(() => this.#creating.delete(runId));
    this.#creating.set(runId, creating);
    return creating;
  }

  async #createRun(runId: string, data: EventOf<"run_created">["eventData"]): Promise<EventResult> {
    const now = new Date();
    const created = this.#event(runId, "run_created", undefined, data, now);
    const started = this.#event(runId, "run_started", undefined, undefined, now);
    const rows = await this.#sql`
      with run as (
        insert into engine.runs (run_id, workflow_name, deployment_id, spec_version, status, input,
          execution_context, owner, created_at, started_at, updated_at)
        values (${runId}, ${data.workflowName}, ${data.deploymentId}, ${SPEC_VERSION_CURRENT},
          'running', ${bytes(data.input)}, ${encodeEventData(data.executionContext)},
          ${this.#owner}, ${now}, ${now}, ${now})
        on conflict do nothing returning run_id)
      insert into engine.events (run_id, event_id, type, data, created_at)
      select run.run_id, event.id, event.type, event.data::jsonb, ${now}::timestamptz
      from run, (values
        (${created.eventId}, 'run_created', ${encodeEventData(data)}),
        (${started.eventId}, 'run_started', null)) as event (id, type, data)
      returning event_id`;
    if (rows.length === 0) throw new EntityConflictError(`Run "${runId}" already exists`);
    const run: WorkflowRun = {
      runId,
      status: "running",
      deploymentId: data.deploymentId,
      workflowName: data.workflowName,
      specVersion: SPEC_VERSION_CURRENT,
      executionContext: data.executionContext,
      input: data.input,
      createdAt: now,
      startedAt: now,
      updatedAt: now,
    };
    this.#owned.set(runId, { run, events: [created, started], steps: new Map() });
    return { event: created, run };
  }

  async #startRun(runId: string, request: EventOf<"run_started">): Promise<EventResult> {
    await this.#creating.get(runId)?.catch(() => {});
    let owned = this.#owned.get(runId);
    const data = request.eventData;
    if (!owned && data?.input !== undefined && data.workflowName && data.deploymentId) {
      // The SDK accepted the run although its creation failed; the message carries what to create.
      await this.#createRunOnce(runId, {
        input: data.input,
        workflowName: data.workflowName,
        deploymentId: data.deploymentId,
        executionContext: data.executionContext,
      });
      owned = this.#owned.get(runId);
    }
    if (!owned) throw new RunExpiredError(lost(runId));
    return { run: owned.run, events: [...owned.events], hasMore: false, cursor: null };
  }

  async #endRun(
    runId: string,
    request: CreateEventRequest,
    status: "completed" | "failed" | "cancelled",
    output: Uint8Array | null,
    error: StructuredError | null,
  ): Promise<EventResult> {
    const owned = this.#ownedRun(runId);
    const now = new Date();
    const event = this.#event(runId, request.eventType, undefined, dataOf(request), now);
    const [row] = await this.#sql`
      with run as (
        update engine.runs set status = ${status}, output = ${output},
          error = ${error && JSON.stringify(error)}, completed_at = ${now}, updated_at = ${now}
        where run_id = ${runId} and owner = ${this.#owner} and status = 'running' returning *),
      event as (
        insert into engine.events (run_id, event_id, type, data, created_at)
        select run_id, ${event.eventId}, ${event.eventType},
          ${encodeEventData(dataOf(request))}::jsonb, ${now}::timestamptz from run)
      select * from run`;
    this.#owned.delete(runId);
    if (!row) throw new EntityConflictError(lost(runId));
    return { event, run: { ...runOf(row), input: owned.run.input } };
  }

  async #createStep(runId: string, request: EventOf<"step_created">): Promise<EventResult> {
    const owned = this.#ownedRun(runId);
    const stepId = request.correlationId;
    if (owned.steps.has(stepId)) throw new EntityConflictError(`Step "${stepId}" already exists`);
    const now = new Date();
    const { stepName, input } = request.eventData;
    const created = this.#event(runId, "step_created", stepId, request.eventData, now);
    const started = this.#event(runId, "step_started", stepId, { stepName }, now);
    const rows = await this.#sql`
      with run as (
        select run_id from engine.runs
        where run_id = ${runId} and owner = ${this.#owner} and status = 'running'),
      step as (
        insert into engine.steps (run_id, step_id, name, status, input, attempt, created_at,
          started_at, updated_at)
        select run_id, ${stepId}, ${stepName}, 'running', ${bytes(input)}::bytea, 1,
          ${now}::timestamptz, ${now}::timestamptz, ${now}::timestamptz
        from run on conflict do nothing returning run_id)
      insert into engine.events (run_id, event_id, type, correlation_id, data, created_at)
      select step.run_id, event.id, event.type, ${stepId}, event.data::jsonb, ${now}::timestamptz
      from step, (values
        (${created.eventId}, 'step_created', ${encodeEventData(request.eventData)}),
        (${started.eventId}, 'step_started', ${encodeEventData({ stepName })})) as event (id, type, data)
      returning event_id`;
    if (rows.length === 0) throw this.#ownershipLost(runId);
    const step: Step = {
      runId,
      stepId,
      stepName,
      status: "running",
      input,
      attempt: 1,
      createdAt: now,
      startedAt: now,
      updatedAt: now,
      specVersion: SPEC_VERSION_CURRENT,
    };
    owned.events.push(created, started);
    owned.steps.set(stepId, { step, startedOnCreation: true });
    return { event: created, step };
  }

  async #startStep(runId: string, request: EventOf<"step_started">): Promise<EventResult> {
    const known = this.#owned.get(runId)?.steps.get(request.correlationId);
    if (!known) throw new RunExpiredError(lost(runId));
    if (known.step.status === "completed" || known.step.status === "failed") {
      throw new EntityConflictError(`Step "${request.correlationId}" has ended`);
    }
    if (known.startedOnCreation) {
      known.startedOnCreation = false;
      return { step: known.step };
    }
    return this.#changeStep(runId, request, {
      status: "running",
      attempt: known.step.attempt + 1,
    });
  }

  async #changeStep(
    runId: string,
    request: CreateEventRequest & { correlationId: string },
    change: {
      status: "running" | "pending" | "completed" | "failed";
      attempt?: number;
      error?: StructuredError;
      retryAfter?: Date;
    },
  ): Promise<EventResult> {
    const owned = this.#ownedRun(runId);
    const stepId = request.correlationId;
    const now = new Date();
    const event = this.#event(runId, request.eventType, stepId, dataOf(request), now);
    const ended = change.status === "completed" || change.status === "failed";
    const [row] = await this.#sql`
      with step as (
        update engine.steps set status = ${change.status},
          attempt = coalesce(${change.attempt ?? null}, attempt),
          error = ${change.error ? JSON.stringify(change.error) : null},
          retry_after = ${change.retryAfter ?? null},
          completed_at = ${ended ? now : null}, updated_at = ${now}
        where run_id = ${runId} and step_id = ${stepId} and status in ('pending', 'running')
          and exists (select from engine.runs
            where run_id = ${runId} and owner = ${this.#owner} and status = 'running')
        returning *),
      event as (
        insert into engine.events (run_id, event_id, type, correlation_id, data, created_at)
        select run_id, ${event.eventId}, ${event.eventType}, ${stepId},
          ${encodeEventData(dataOf(request))}::jsonb, ${now}::timestamptz from step)
      select * from step`;
    if (!row) throw this.#ownershipLost(runId);
    const step = stepOf(row);
    owned.events.push(event);
    owned.steps.set(stepId, { step, startedOnCreation: false });
    return { event, step };
  }

  #ownedRun(runId: string): OwnedRun {
    const owned = this.#owned.get(runId);
    if (!owned) throw new EntityConflictError(lost(runId));
    return owned;
  }

  #ownershipLost(runId: string): EntityConflictError {
    this.#owned.delete(runId);
    return new EntityConflictError(lost(runId));
  }

  #event(
    runId: string,
    eventType: Event["eventType"],
    correlationId: string | undefined,
    eventData: unknown,
    createdAt: Date,
  ): Event {
    const eventId = `wevt_${this.#nextUlid()}`;
    return toEvent({ runId, eventId, eventType, correlationId, eventData, createdAt });
  }
}

interface StructuredError {
  message: string;
  stack?: string;
  code?: string;
}

function structuredError(data: {
  error: unknown;
  stack?: string;
  errorCode?: string;
}): StructuredError {
  const given = data.error;
  const message =
    typeof given === "object" && given !== null && "message" in given
      ? String(given.message)
      : String(given);
  return { message, stack: data.stack, code: data.errorCode };
}

function bytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new WorkflowWorldError("Run state must be serialized by the Workflow SDK");
}

const dataOf = (request: EventRequest): unknown =>
  "eventData" in request ? request.eventData : undefined;

const date = (value: unknown): Date | undefined => (value instanceof Date ? value : undefined);

/*
 * Rows of this schema are written by this file alone, and the SDK's entities are wide unions, so
 * the three mappers below assert what the schema guarantees.
 */
function runOf(row: Row): WorkflowRun {
  return {
    runId: row.run_id,
    status: row.status,
    deploymentId: row.deployment_id,
    workflowName: row.workflow_name,
    specVersion: row.spec_version,
    executionContext: row.execution_context ?? undefined,
    input: row.input,
    output: row.output ?? undefined,
    error: row.error ?? undefined,
    createdAt: row.created_at,
    startedAt: row.started_at,
    completedAt: date(row.completed_at),
    updatedAt: row.updated_at,
  } as WorkflowRun;
}

function stepOf(row: Row): Step {
  return {
    runId: row.run_id,
    stepId: row.step_id,
    stepName: row.name,
    status: row.status,
    input: row.input,
    attempt: row.attempt,
    error: row.error ?? undefined,
    retryAfter: date(row.retry_after),
    createdAt: row.created_at,
    startedAt: row.started_at,
    completedAt: date(row.completed_at),
    updatedAt: row.updated_at,
    specVersion: SPEC_VERSION_CURRENT,
  } as Step;
}

function eventOf(row: Row): Event {
  return toEvent({
    runId: row.run_id,
    eventId: row.event_id,
    eventType: row.type,
    correlationId: row.correlation_id ?? undefined,
    eventData: row.data === null ? undefined : decodeEventData(row.data),
    createdAt: row.created_at,
  });
}

function toEvent(fields: Row): Event {
  const event: unknown = { ...fields, specVersion: SPEC_VERSION_CURRENT };
  return event as Event;
}
