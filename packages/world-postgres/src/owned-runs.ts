/**
 * The runs that this process owns, in memory. Only the owner appends to a run's events, one write after
 * the other: their order in memory, by id and in the database is the same, and a replay sees the same
 * history in this process and in the next owner.
 */
import { EntityConflictError, TooEarlyError } from "@workflow/errors";
import type { Event, Step, WorkflowRun } from "@workflow/world";
import { decodeTime, monotonicFactory } from "ulid";
import { createEvent } from "./run-rows.ts";
import type { RunTables } from "./run-tables.ts";

export interface OwnedRun {
  readonly run: WorkflowRun;
  readonly events: Event[];
  readonly steps: Map<string, OwnedStep>;
}

export interface OwnedStep {
  readonly step: Step;
  /** Whether the SDK has yet to ask for the first attempt, which was recorded on creation. */
  readonly startedOnCreation: boolean;
}

interface Entry {
  /** Undefined when a write may or may not have been committed: the next use reads the database. */
  state: OwnedRun | undefined;
  /** Resolves when the writes that were asked for have ended. */
  writes: Promise<unknown>;
}

const PREFIX = "wevt_";

export class OwnedRuns {
  readonly #tables: RunTables;
  readonly #entries = new Map<string, Entry>();
  /** Ids order the events of a run; nothing depends on their being hard to guess. */
  readonly #nextUlid = monotonicFactory(Math.random);
  /** Later than any event of a former owner, whose clock may be ahead of this one. */
  #earliest = 0;
  /** Whether `#entries` has all runs that this process owns in the database. */
  #isComplete = true;

  constructor(tables: RunTables) {
    this.#tables = tables;
  }

  has(runId: string): boolean {
    return this.#entries.has(runId);
  }

  ids(): string[] {
    return [...this.#entries.keys()];
  }

  get(runId: string): OwnedRun | undefined {
    return this.#entries.get(runId)?.state;
  }

  add(runId: string, state: OwnedRun): void {
    this.#entries.set(runId, { state, writes: Promise.resolve() });
  }

  drop(runId: string): void {
    this.#entries.delete(runId);
  }

  dropAll(): void {
    this.#entries.clear();
    // A run may have become its own since it has a row in `engine.instances` again.
    this.#isComplete = false;
  }

  /** After a failure, the next adoption searches for runs that this process owns without knowing them. */
  markIncomplete(): void {
    this.#isComplete = false;
  }

  /** Resolves with at most `limit` runs that had no owner, and with own ones that were unknown. */
  async adopt(limit: number, isKnown: (runId: string) => boolean): Promise<WorkflowRun[]> {
    const isComplete = this.#isComplete;
    this.#isComplete = false;
    const runIds = isComplete
      ? await this.#tables.adopt(limit)
      : (await this.#tables.ownRunIds()).filter((runId) => !isKnown(runId));
    const loads = await Promise.allSettled(runIds.map((runId) => this.load(runId)));
    const failed = loads.find((load) => load.status === "rejected");
    if (failed) {
      for (const runId of runIds) this.drop(runId);
      throw failed.reason;
    }
    this.#isComplete = true;
    return loads.flatMap((load) => (load.status === "fulfilled" && load.value?.run) || []);
  }

  /** Reads a run from the database. Resolves with undefined, and forgets it, when it is not owned. */
  async load(runId: string): Promise<OwnedRun | undefined> {
    const run = await this.#tables.ownedRun(runId);
    if (!run) {
      this.drop(runId);
      return undefined;
    }
    const [steps, events] = await Promise.all([
      this.#tables.steps(runId),
      this.#tables.events(runId),
    ]);
    const last = events.at(-1);
    if (last) {
      this.#earliest = Math.max(this.#earliest, decodeTime(last.eventId.slice(PREFIX.length)) + 1);
    }
    const owned = steps.map((step) => [step.stepId, { step, startedOnCreation: false }] as const);
    const state = { run, events, steps: new Map(owned) };
    const entry = this.#entries.get(runId);
    if (entry) entry.state = state;
    else this.add(runId, state);
    return state;
  }

  /**
   * Calls `write` when the run's earlier writes have ended.
   * @throws EntityConflictError when this process does not own the run.
   */
  async inOrder<T>(runId: string, write: (owned: OwnedRun) => Promise<T>): Promise<T> {
    const entry = this.#entries.get(runId);
    if (!entry) throw this.lost(runId);
    const writing = entry.writes.then(async () => {
      const owned = this.#entries.get(runId) === entry ? entry.state : undefined;
      const state = owned ?? (await this.load(runId));
      if (!state) throw this.lost(runId);
      try {
        return await write(state);
      } catch (error) {
        if (!EntityConflictError.is(error) && !TooEarlyError.is(error)) entry.state = undefined;
        throw error;
      }
    });
    entry.writes = writing.catch(() => {});
    return writing;
  }

  /** Forgets a run that this process no longer owns, and returns the error to throw. */
  lost(runId: string): EntityConflictError {
    this.drop(runId);
    return new EntityConflictError(`Run "${runId}" has ended, or another process owns it`);
  }

  newEvent(
    runId: string,
    eventType: Event["eventType"],
    correlationId: string | undefined,
    eventData: unknown,
    createdAt = new Date(),
  ): Event {
    const eventId = PREFIX + this.#nextUlid(Math.max(Date.now(), this.#earliest));
    return createEvent({ runId, eventId, eventType, correlationId, eventData, createdAt });
  }
}
