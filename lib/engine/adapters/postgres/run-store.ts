/**
 * The event-sourced run state of the Workflow SDK's `World`, in PostgreSQL.
 *
 * A run has one owner, a live process, and only the owner can write to it. The owner therefore
 * answers every read from memory, and combines what the SDK would write one by one: it creates and
 * starts a run in one statement, and likewise a step. The SDK sees no difference, and a model call
 * costs two statements instead of ten.
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
import type { Sql } from "./database.ts";
import { createEvent, dataOf, toBytes, toStructuredError } from "./run-rows.ts";
import { type RunEnd, RunTables, type StepChange } from "./run-tables.ts";

interface OwnedRun {
  readonly run: WorkflowRun;
  readonly events: Event[];
  readonly steps: Map<string, OwnedStep>;
}

interface OwnedStep {
  readonly step: Step;
  /** Whether the SDK has yet to ask for the first attempt, which was recorded on creation. */
  startedOnCreation: boolean;
}

type EventRequest = CreateEventRequest | RunCreatedEventRequest;
type EventOf<T extends EventRequest["eventType"]> = Extract<EventRequest, { eventType: T }>;

const notOwned = (runId: string) => `Run "${runId}" is not owned by this process`;

export class RunStore {
  readonly #tables: RunTables;
  readonly #owned = new Map<string, OwnedRun>();
  readonly #creating = new Map<string, Promise<EventResult>>();
  /** Ids order the events of a run; nothing depends on their being hard to guess. */
  readonly #nextUlid = monotonicFactory(Math.random);

  constructor(sql: Sql, owner: string) {
    this.#tables = new RunTables(sql, owner);
  }

  owns(runId: string): boolean {
    return this.#owned.has(runId) || this.#creating.has(runId);
  }

  /** Forgets all runs, because another process has taken them over. */
  dropAll(): void {
    this.#owned.clear();
  }

  /**
   * Makes this process the owner of the running runs of `formerOwner`, which must be dead.
   * @returns the runs to continue.
   */
  async takeOver(formerOwner: string): Promise<WorkflowRun[]> {
    const runIds = await this.#tables.takeOver(formerOwner);
    return Promise.all(runIds.map((runId) => this.#load(runId)));
  }

  async #load(runId: string): Promise<WorkflowRun> {
    const run = await this.#tables.run(runId);
    if (!run) throw new WorkflowRunNotFoundError(runId);
    const [steps, events] = await Promise.all([
      this.#tables.steps(runId),
      this.#tables.events(runId),
    ]);
    const owned = steps.map((step) => [step.stepId, { step, startedOnCreation: false }] as const);
    this.#owned.set(runId, { run, events, steps: new Map(owned) });
    return run;
  }

  async run(runId: string): Promise<WorkflowRun> {
    const run = this.#owned.get(runId)?.run ?? (await this.#tables.run(runId));
    if (!run) throw new WorkflowRunNotFoundError(runId);
    return run;
  }

  async events(runId: string): Promise<Event[]> {
    const owned = this.#owned.get(runId);
    return owned ? [...owned.events] : this.#tables.events(runId);
  }

  async create(runId: string, request: EventRequest): Promise<EventResult> {
    switch (request.eventType) {
      case "run_created":
        return this.#createRunOnce(runId, request.eventData);
      case "run_started":
        return this.#startRun(runId, request);
      case "run_completed":
        return this.#endRun(runId, request, {
          status: "completed",
          output: toBytes(request.eventData.output),
        });
      case "run_failed":
        return this.#endRun(runId, request, {
          status: "failed",
          error: toStructuredError(request.eventData),
        });
      case "run_cancelled":
        return this.#endRun(runId, request, { status: "cancelled" });
      case "step_created":
        return this.#createStep(runId, request);
      case "step_started":
        return this.#startStep(runId, request);
      case "step_completed":
        return this.#changeStep(runId, request, { status: "completed" });
      case "step_failed":
        return this.#changeStep(runId, request, {
          status: "failed",
          error: toStructuredError(request.eventData),
        });
      case "step_retrying":
        return this.#changeStep(runId, request, {
          status: "pending",
          error: toStructuredError(request.eventData),
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
    if (!(await this.#tables.insertRun(run, created, started))) {
      throw new EntityConflictError(`Run "${runId}" already exists`);
    }
    this.#owned.set(runId, { run, events: [created, started], steps: new Map() });
    return { event: created, run };
  }

  async #startRun(runId: string, request: EventOf<"run_started">): Promise<EventResult> {
    await this.#creating.get(runId)?.catch(() => {});
    let owned = this.#owned.get(runId);
    const data = request.eventData;
    if (!owned && data?.input !== undefined && data.workflowName && data.deploymentId) {
      // The SDK accepted the run although its creation failed; the message has what is needed.
      await this.#createRunOnce(runId, {
        input: data.input,
        workflowName: data.workflowName,
        deploymentId: data.deploymentId,
        executionContext: data.executionContext,
      });
      owned = this.#owned.get(runId);
    }
    if (!owned) throw new RunExpiredError(notOwned(runId));
    return { run: owned.run, events: [...owned.events], hasMore: false, cursor: null };
  }

  async #endRun(runId: string, request: CreateEventRequest, end: RunEnd): Promise<EventResult> {
    const { run } = this.#ownedRun(runId);
    const event = this.#event(runId, request.eventType, undefined, dataOf(request), new Date());
    const ended = await this.#tables.endRun(end, event);
    this.#owned.delete(runId);
    if (!ended) throw new EntityConflictError(notOwned(runId));
    return { event, run: { ...ended, input: run.input } };
  }

  async #createStep(runId: string, request: EventOf<"step_created">): Promise<EventResult> {
    const owned = this.#ownedRun(runId);
    const stepId = request.correlationId;
    if (owned.steps.has(stepId)) throw new EntityConflictError(`Step "${stepId}" already exists`);
    const now = new Date();
    const { stepName, input } = request.eventData;
    const created = this.#event(runId, "step_created", stepId, request.eventData, now);
    const started = this.#event(runId, "step_started", stepId, { stepName }, now);
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
    if (!(await this.#tables.insertStep(step, created, started))) throw this.#lose(runId);
    owned.events.push(created, started);
    owned.steps.set(stepId, { step, startedOnCreation: true });
    return { event: created, step };
  }

  async #startStep(runId: string, request: EventOf<"step_started">): Promise<EventResult> {
    const known = this.#owned.get(runId)?.steps.get(request.correlationId);
    if (!known) throw new RunExpiredError(notOwned(runId));
    if (known.step.status === "completed" || known.step.status === "failed") {
      throw new EntityConflictError(`Step "${request.correlationId}" has ended`);
    }
    if (known.startedOnCreation) {
      known.startedOnCreation = false;
      return { step: known.step };
    }
    const attempt = known.step.attempt + 1;
    return this.#changeStep(runId, request, { status: "running", attempt });
  }

  async #changeStep(
    runId: string,
    request: CreateEventRequest & { correlationId: string },
    change: StepChange,
  ): Promise<EventResult> {
    const owned = this.#ownedRun(runId);
    const stepId = request.correlationId;
    const event = this.#event(runId, request.eventType, stepId, dataOf(request), new Date());
    const step = await this.#tables.updateStep(stepId, change, event);
    if (!step) throw this.#lose(runId);
    owned.events.push(event);
    owned.steps.set(stepId, { step, startedOnCreation: false });
    return { event, step };
  }

  #ownedRun(runId: string): OwnedRun {
    const owned = this.#owned.get(runId);
    if (!owned) throw new EntityConflictError(notOwned(runId));
    return owned;
  }

  /** Forgets a run that another process has taken over, and returns the error to throw. */
  #lose(runId: string): EntityConflictError {
    this.#owned.delete(runId);
    return new EntityConflictError(notOwned(runId));
  }

  #event(
    runId: string,
    eventType: Event["eventType"],
    correlationId: string | undefined,
    eventData: unknown,
    createdAt: Date,
  ): Event {
    const eventId = `wevt_${this.#nextUlid()}`;
    return createEvent({ runId, eventId, eventType, correlationId, eventData, createdAt });
  }
}
