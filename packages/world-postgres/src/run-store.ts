/**
 * The event-sourced run state of the Workflow SDK's `World`, in PostgreSQL.
 *
 * A run has one owner, a live process, and only the owner can write to it. The owner therefore answers
 * the reads of a replay from memory, and combines writes that the SDK would do one by one: it creates and
 * starts a run in one statement, and likewise a step. The SDK sees no difference, and a model call costs
 * two statements instead of ten. Input from other processes (payloads of hooks, waits that are ended
 * early) goes through the run's inbox; a cancellation needs no owner. This file is long because it has all
 * writes to a run.
 */
import {
  EntityConflictError,
  RunExpiredError,
  TooEarlyError,
  WorkflowRunNotFoundError,
  WorkflowWorldError,
} from "@workflow/errors";
import type {
  CreateEventRequest,
  Event,
  EventResult,
  RunCreatedEventRequest,
  Step,
  WorkflowRun,
} from "@workflow/world";
import type { Sql } from "./database.ts";
import { HookStore } from "./hook-store.ts";
import { type OwnedRun, OwnedRuns, type OwnedStep } from "./owned-runs.ts";
import { dataOf, SPEC_VERSION, toBytes, toStructuredError } from "./run-rows.ts";
import { type RunEnd, RunTables, type StepChange } from "./run-tables.ts";

type EventRequest = CreateEventRequest | RunCreatedEventRequest;
type EventOf<T extends EventRequest["eventType"]> = Extract<EventRequest, { eventType: T }>;
type StepRequest = CreateEventRequest & { correlationId: string };

export class RunStore {
  readonly #tables: RunTables;
  readonly #owned: OwnedRuns;
  readonly #hooks: HookStore;
  readonly #creating = new Map<string, Promise<EventResult>>();

  constructor(sql: Sql, owner: string) {
    this.#tables = new RunTables(sql, owner);
    this.#owned = new OwnedRuns(this.#tables);
    this.#hooks = new HookStore(sql, owner, this.#owned);
  }

  owns(runId: string): boolean {
    return this.#owned.has(runId) || this.#creating.has(runId);
  }

  /** Resolves with whether this process owns the run, as soon as the run is created. */
  async created(runId: string): Promise<boolean> {
    await this.#creating.get(runId)?.catch(() => {});
    return this.#owned.has(runId);
  }

  ownedIds(): string[] {
    return this.#owned.ids();
  }

  /** Forgets all runs, because another process has taken them over. */
  dropAll(): void {
    this.#owned.dropAll();
  }

  /**
   * Makes this process the owner of at most `limit` runs that have none.
   * @returns the runs to continue.
   */
  adopt(limit: number): Promise<WorkflowRun[]> {
    return this.#owned.adopt(limit, (runId) => this.owns(runId));
  }

  /**
   * Reads the messages of other processes to an owned run.
   * @returns the run if it is to be continued here.
   */
  async receive(runId: string): Promise<WorkflowRun | undefined> {
    const run = this.#owned.has(runId) ? await this.#tables.ownedRun(runId) : undefined;
    if (!run) {
      this.#owned.drop(runId);
      return undefined;
    }
    await this.#hooks.receive(runId);
    return run;
  }

  /** Gives up these runs, which other processes adopt. Late writes to them fail. */
  async release(runIds: readonly string[]): Promise<void> {
    await Promise.allSettled(runIds.map((runId) => this.#creating.get(runId)));
    await this.#tables.release(runIds);
    for (const runId of runIds) this.#owned.drop(runId);
  }

  /** Notifies the owner of a run, which reads the run's inbox and continues it. */
  notifyOwner(runId: string): Promise<void> {
    return this.#tables.notifyOwner(runId);
  }

  async run(runId: string): Promise<WorkflowRun> {
    const run = this.#owned.get(runId)?.run ?? (await this.#tables.run(runId));
    if (!run) throw new WorkflowRunNotFoundError(runId);
    return run;
  }

  /** Resolves with the run's events in their order, after the event `after` if that is given. */
  async events(runId: string, after?: string): Promise<Event[]> {
    const events = this.#owned.get(runId)?.events ?? (await this.#tables.events(runId));
    return after === undefined ? [...events] : events.filter(({ eventId }) => eventId > after);
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
        return this.#cancelRun(runId, request);
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
        return this.#hooks.create(runId, request);
    }
  }

  #createRunOnce(runId: string, data: EventOf<"run_created">["eventData"]): Promise<EventResult> {
    const creating = this.#createRun(runId, data)
      .catch((error: unknown) => {
        this.#owned.markIncomplete();
        throw error;
      })
      .finally(() => this.#creating.delete(runId));
    this.#creating.set(runId, creating);
    return creating;
  }

  async #createRun(runId: string, data: EventOf<"run_created">["eventData"]): Promise<EventResult> {
    const created = this.#owned.newEvent(runId, "run_created", undefined, data);
    const now = created.createdAt;
    const started = this.#owned.newEvent(runId, "run_started", undefined, undefined, now);
    const run: WorkflowRun = {
      runId,
      status: "running",
      deploymentId: data.deploymentId,
      workflowName: data.workflowName,
      specVersion: SPEC_VERSION,
      executionContext: data.executionContext,
      input: data.input,
      createdAt: now,
      startedAt: now,
      updatedAt: now,
    };
    const inserted = await this.#tables.insertRun(run, created, started);
    if (inserted === "exists") throw new EntityConflictError(`Run "${runId}" already exists`);
    if (inserted === "owned") {
      this.#owned.add(runId, { run, events: [created, started], steps: new Map() });
    }
    return { event: created, run };
  }

  async #startRun(runId: string, request: EventOf<"run_started">): Promise<EventResult> {
    const data = request.eventData;
    if (!(await this.created(runId)) && data?.input && data.workflowName && data.deploymentId) {
      // The SDK accepted the run although its creation failed; the message has the required data.
      await this.#createRunOnce(runId, {
        input: data.input,
        workflowName: data.workflowName,
        deploymentId: data.deploymentId,
        executionContext: data.executionContext,
      }).catch((error: unknown) => {
        if (!EntityConflictError.is(error)) throw error;
      });
    }
    const owned = this.#owned.has(runId)
      ? await this.#owned.inOrder(runId, async (state) => state)
      : undefined;
    if (!owned) throw new RunExpiredError(`Run "${runId}" has ended, or another process owns it`);
    const events = [...owned.events];
    return { run: owned.run, events, hasMore: false, cursor: events.at(-1)?.eventId ?? null };
  }

  /** Ends a run that its first step has completed. It has no output. */
  async complete(runId: string): Promise<void> {
    const request = { eventType: "run_completed" as const, eventData: {} };
    await this.#endRun(runId, request, { status: "completed" });
  }

  #endRun(runId: string, request: CreateEventRequest, end: RunEnd): Promise<EventResult> {
    return this.#owned.inOrder(runId, async ({ run }) => {
      const event = this.#owned.newEvent(runId, request.eventType, undefined, dataOf(request));
      const ended = await this.#tables.endRun(end, event);
      if (!ended) throw this.#owned.lost(runId);
      this.#owned.drop(runId);
      return { event, run: { ...ended, input: run.input } };
    });
  }

  /** The owner, if it is another process, learns of it by its next write or a message. */
  async #cancelRun(runId: string, request: EventOf<"run_cancelled">): Promise<EventResult> {
    if (this.#owned.has(runId)) return this.#endRun(runId, request, { status: "cancelled" });
    const event = this.#owned.newEvent(runId, request.eventType, undefined, undefined);
    const ended = await this.#tables.endRun({ status: "cancelled" }, event);
    if (ended) {
      await this.#tables.notifyOwner(runId);
      return { event, run: ended };
    }
    const run = await this.run(runId);
    if (run.status === "cancelled") return { run };
    throw new EntityConflictError(`Run "${runId}" has already ended: ${run.status}`);
  }

  #createStep(runId: string, request: EventOf<"step_created">): Promise<EventResult> {
    return this.#owned.inOrder(runId, async (owned) => {
      const stepId = request.correlationId;
      if (owned.steps.has(stepId)) throw new EntityConflictError(`Step "${stepId}" already exists`);
      const { stepName, input } = request.eventData;
      const created = this.#owned.newEvent(runId, "step_created", stepId, request.eventData);
      const now = created.createdAt;
      const started = this.#owned.newEvent(runId, "step_started", stepId, { stepName }, now);
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
        specVersion: SPEC_VERSION,
      };
      if (!(await this.#tables.insertStep(step, created, started))) throw this.#owned.lost(runId);
      owned.events.push(created, started);
      owned.steps.set(stepId, { step, startedOnCreation: true });
      return { event: created, step };
    });
  }

  async #startStep(runId: string, request: EventOf<"step_started">): Promise<EventResult> {
    if (!this.#owned.has(runId)) throw new RunExpiredError(this.#owned.lost(runId).message);
    return this.#owned.inOrder(runId, async (owned) => {
      const { step, startedOnCreation } = unendedStep(owned, request.correlationId);
      if (startedOnCreation) {
        owned.steps.set(step.stepId, { step, startedOnCreation: false });
        return { step };
      }
      const earlyMs = (step.retryAfter?.getTime() ?? 0) - Date.now();
      if (earlyMs > 0) {
        throw new TooEarlyError(`Step "${step.stepId}" is to be retried later`, {
          retryAfter: Math.ceil(earlyMs / 1000),
        });
      }
      return this.#update(owned, request, { status: "running", attempt: step.attempt + 1 });
    });
  }

  #changeStep(runId: string, request: StepRequest, change: StepChange): Promise<EventResult> {
    return this.#owned.inOrder(runId, (owned) => {
      unendedStep(owned, request.correlationId);
      return this.#update(owned, request, change);
    });
  }

  async #update(owned: OwnedRun, request: StepRequest, change: StepChange): Promise<EventResult> {
    const { runId } = owned.run;
    const stepId = request.correlationId;
    const event = this.#owned.newEvent(runId, request.eventType, stepId, dataOf(request));
    const step = await this.#tables.updateStep(stepId, change, event);
    if (!step) throw this.#owned.lost(runId);
    owned.events.push(event);
    owned.steps.set(stepId, { step, startedOnCreation: false });
    return { event, step };
  }
}

function unendedStep(owned: OwnedRun, stepId: string): OwnedStep {
  const known = owned.steps.get(stepId);
  if (!known) throw new WorkflowWorldError(`Step "${stepId}" not found`);
  if (known.step.status === "completed" || known.step.status === "failed") {
    throw new EntityConflictError(`Step "${stepId}" has ended`);
  }
  return known;
}
