import {
  type CreateEventParams,
  type CreateEventRequest,
  type Event,
  type ListEventsParams,
  type RunCreatedEventRequest,
  stripEventDataRefs,
  type World,
} from "@workflow/world";
import { ulid } from "ulid";
import type { InProcessQueue } from "./queue.ts";
import { type RunLists, withoutData } from "./run-lists.ts";
import { SPEC_VERSION } from "./run-rows.ts";
import type { RunStore } from "./run-store.ts";
import type { Streams } from "./streams.ts";

export interface WorldParts {
  readonly runs: RunStore;
  readonly lists: RunLists;
  readonly streams: Streams;
  readonly queue: InProcessQueue;
  readonly start: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Creates the Workflow SDK's `World` from its parts. */
export function createWorld({ runs, lists, streams, queue, ...life }: WorldParts): World {
  const createEvent = async (
    runId: string | null,
    request: CreateEventRequest | RunCreatedEventRequest,
    params?: CreateEventParams,
  ) => {
    const id = runId ?? `wrun_${ulid()}`;
    const result = await runs.create(id, request);
    const { event } = result;
    return { ...result, ...(event && { event: withoutRefs(event, params) }) };
  };

  /** A replay asks for all events of its run in their order: its owner has them in memory. */
  const listEvents = async (params: ListEventsParams) => {
    const { runId, resolveData, pagination } = params;
    const isReplay =
      resolveData !== "none" && !pagination?.limit && pagination?.sortOrder === "asc";
    if (!isReplay || !runs.owns(runId)) return lists.events(params);
    const data = await runs.events(runId, pagination.cursor);
    return { data, cursor: data.at(-1)?.eventId ?? null, hasMore: false };
  };

  // The SDK's overloads vary the types of runs and steps with `resolveData`.
  return {
    specVersion: SPEC_VERSION,
    ...life,
    getDeploymentId: queue.getDeploymentId,
    queue: queue.queue,
    createQueueHandler: queue.createQueueHandler,
    runs: {
      get: async (id, params) => withoutData(await runs.run(id), params?.resolveData),
      list: (params) => lists.runs(params),
    } as World["runs"],
    steps: {
      get: (runId, stepId, params) => lists.step(runId, stepId, params?.resolveData),
      list: (params) => lists.steps(params),
    } as World["steps"],
    events: {
      create: createEvent,
      get: (runId, eventId, params) => lists.event(runId, eventId, params?.resolveData),
      list: listEvents,
      listByCorrelationId: (params) => lists.events(params),
    },
    hooks: {
      get: (hookId, params) => lists.hook(hookId, params?.resolveData),
      getByToken: (token, params) => lists.hookByToken(token, params?.resolveData),
      list: (params) => lists.hooks(params),
    },
    // It may pass the id of a run that is being created as a promise, against its own types.
    writeToStream: async (name, runId, chunk) => streams.write(name, await runId, [chunk]),
    writeToStreamMulti: async (name, runId, chunks) => streams.write(name, await runId, chunks),
    closeStream: async (name, runId) => streams.close(name, await runId),
    readFromStream: async (name, startIndex) => streams.read(name, startIndex),
    listStreamsByRunId: (runId) => streams.names(runId),
    getStreamChunks: (name, _runId, options) => streams.chunks(name, options),
    getStreamInfo: (name) => streams.info(name),
  };
}

const withoutRefs = (event: Event, params?: CreateEventParams): Event =>
  stripEventDataRefs(event, params?.resolveData ?? "all");
