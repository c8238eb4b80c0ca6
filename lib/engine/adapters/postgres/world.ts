import { WorkflowRuntimeError } from "@workflow/errors";
import {
  type CreateEventRequest,
  type RunCreatedEventRequest,
  SPEC_VERSION_CURRENT,
  type World,
} from "@workflow/world";
import type { InProcessQueue } from "./queue.ts";
import type { RunStore } from "./run-store.ts";

export interface WorldParts {
  readonly runs: RunStore;
  readonly queue: InProcessQueue;
}

/**
 * The Workflow SDK's `World` on PostgreSQL, as far as this product uses it: runs and steps. Hooks,
 * sleeps and the SDK's own streams are not used, and say so.
 */
export function createWorld({ runs, queue }: WorldParts): World {
  const unused = (what: string) => async (): Promise<never> => {
    throw new WorkflowRuntimeError(`${what} are not part of this engine`);
  };
  return {
    specVersion: SPEC_VERSION_CURRENT,
    getDeploymentId: queue.getDeploymentId,
    queue: queue.queue,
    createQueueHandler: queue.createQueueHandler,
    // The SDK's overloads vary the result with `resolveData`; this world always has the data.
    runs: { get: (id: string) => runs.run(id), list: unused("Run lists") } as World["runs"],
    events: {
      create: (runId: string | null, request: CreateEventRequest | RunCreatedEventRequest) => {
        if (runId === null) throw new WorkflowRuntimeError("A run is created under its own id");
        return runs.create(runId, request);
      },
      get: unused("Single events"),
      list: async ({ runId }) => ({ data: await runs.events(runId), cursor: null, hasMore: false }),
      listByCorrelationId: unused("Event look-ups"),
    },
    steps: { get: unused("Step look-ups"), list: unused("Step lists") },
    hooks: {
      get: unused("Hooks"),
      getByToken: unused("Hooks"),
      list: unused("Hooks"),
    },
    writeToStream: unused("Streams"),
    closeStream: unused("Streams"),
    readFromStream: unused("Streams"),
    listStreamsByRunId: async () => [],
    getStreamChunks: unused("Streams"),
    getStreamInfo: unused("Streams"),
  };
}
