import { EntityConflictError, HookNotFoundError, WorkflowWorldError } from "@workflow/errors";
import type {
  CreateEventRequest,
  Event,
  EventResult,
  RunCreatedEventRequest,
} from "@workflow/world";
import type { Sql } from "./database.ts";
import { HookTables } from "./hook-tables.ts";
import type { OwnedRun, OwnedRuns } from "./owned-runs.ts";
import { dataOf } from "./run-rows.ts";

type EventRequest = CreateEventRequest | RunCreatedEventRequest;
type EventOf<T extends EventRequest["eventType"]> = Extract<EventRequest, { eventType: T }>;

/** Hooks and waits of runs, and the messages that other processes send to them. */
export class HookStore {
  readonly #tables: HookTables;
  readonly #owned: OwnedRuns;

  constructor(sql: Sql, owner: string, owned: OwnedRuns) {
    this.#tables = new HookTables(sql, owner);
    this.#owned = owned;
  }

  async create(runId: string, request: EventRequest): Promise<EventResult> {
    switch (request.eventType) {
      case "hook_created":
        return this.#createHook(runId, request);
      case "hook_received":
        return this.#receivePayload(runId, request);
      case "hook_disposed":
        return this.#disposeHook(runId, request);
      case "wait_created":
        return this.#createWait(runId, request);
      case "wait_completed":
        return this.#endWait(runId, request);
      default:
        throw new WorkflowWorldError(`Event "${request.eventType}" is unknown to this World`);
    }
  }

  /** Moves the contents of the run's inbox to its events, in the order of arrival. */
  receive(runId: string): Promise<void> {
    return this.#owned.inOrder(runId, async (owned) => {
      const entries = await this.#tables.inbox(runId);
      if (entries.length === 0) return;
      const accepted: Event[] = [];
      const eventIds = entries.map(({ event }) => {
        const repeated =
          event.eventType === "wait_completed" &&
          [...owned.events, ...accepted].some((earlier) => endsSameWait(earlier, event));
        if (repeated) return null;
        const { eventId } = this.#owned.newEvent(runId, event.eventType, undefined, undefined);
        accepted.push({ ...event, eventId });
        return eventId;
      });
      if (!(await this.#tables.accept(runId, entries, eventIds))) throw this.#owned.lost(runId);
      owned.events.push(...accepted);
    });
  }

  #createHook(runId: string, request: EventOf<"hook_created">): Promise<EventResult> {
    return this.#owned.inOrder(runId, async (owned) => {
      const { correlationId, eventData } = request;
      const event = this.#event(runId, request);
      const hook = await this.#tables.insertHook(eventData, event);
      if (hook) {
        owned.events.push(event);
        return { event, hook };
      }
      const holder = await this.#tables.holderOf(eventData.token);
      if (holder?.runId === runId && holder.hookId === correlationId) {
        throw new EntityConflictError(`Hook "${correlationId}" already exists`);
      }
      // Its holder has just ended, or this process has lost the run: the next delivery finds out.
      if (!holder) throw new WorkflowWorldError(`Hook "${correlationId}" could not be created`);
      const conflict = this.#owned.newEvent(runId, "hook_conflict", correlationId, {
        token: eventData.token,
        conflictingRunId: holder.runId,
      });
      await this.#append(owned, conflict);
      return { event: conflict };
    });
  }

  async #receivePayload(runId: string, request: EventOf<"hook_received">): Promise<EventResult> {
    const event = this.#event(runId, request);
    if (!(await this.#tables.postPayload(event))) {
      throw new HookNotFoundError(request.correlationId);
    }
    if (this.#owned.has(runId)) {
      await this.receive(runId).catch((error: unknown) => {
        // It was fenced: the next owner has the payload in the run's inbox.
        if (!EntityConflictError.is(error)) throw error;
      });
    }
    return { event };
  }

  #disposeHook(runId: string, request: EventOf<"hook_disposed">): Promise<EventResult> {
    return this.#owned.inOrder(runId, async (owned) => {
      const event = this.#event(runId, request);
      if (!(await this.#tables.deleteHook(event))) {
        throw new HookNotFoundError(request.correlationId);
      }
      owned.events.push(event);
      return { event };
    });
  }

  #createWait(runId: string, request: EventOf<"wait_created">): Promise<EventResult> {
    return this.#owned.inOrder(runId, async (owned) => {
      const { correlationId } = request;
      const exists = owned.events.some(
        (event) => event.eventType === "wait_created" && event.correlationId === correlationId,
      );
      if (exists) throw new EntityConflictError(`Wait "${correlationId}" already exists`);
      const event = this.#event(runId, request);
      await this.#append(owned, event);
      return { event };
    });
  }

  async #endWait(runId: string, request: EventOf<"wait_completed">): Promise<EventResult> {
    if (!this.#owned.has(runId)) {
      const event = this.#event(runId, request);
      if (await this.#tables.postWaitEnd(event)) return { event };
      throw new EntityConflictError(`Wait "${request.correlationId}" has ended`);
    }
    return this.#owned.inOrder(runId, async (owned) => {
      const event = this.#event(runId, request);
      if (owned.events.some((earlier) => endsSameWait(earlier, event))) {
        throw new EntityConflictError(`Wait "${request.correlationId}" has ended`);
      }
      await this.#append(owned, event);
      return { event };
    });
  }

  async #append(owned: OwnedRun, event: Event): Promise<void> {
    if (!(await this.#tables.insertEvent(event))) throw this.#owned.lost(event.runId);
    owned.events.push(event);
  }

  #event(runId: string, request: EventRequest): Event {
    return this.#owned.newEvent(runId, request.eventType, request.correlationId, dataOf(request));
  }
}

const endsSameWait = (earlier: Event, event: Event): boolean =>
  earlier.eventType === "wait_completed" && earlier.correlationId === event.correlationId;
