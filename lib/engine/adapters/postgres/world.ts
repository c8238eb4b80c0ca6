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
 * Creates the part of the Workflow SDK's `World` that this product uses: runs and steps. Hooks,
 * sleeps and the SDK's own streams throw.
 */
export function createWorld({ runs, queue }: WorldParts): World {
  const unsupported = (feature: string) => async (): Promise<never> => {
    throw new WorkflowRuntimeError(`${feature} are not supported by this engine`);
  };
  return {
    specVersion: SPEC_VERSION_CURRENT,
    getDeploymentId: queue.getDeploymentId,
    queue: queue.queue,
    createQueueHandler: queue.createQueueHandler,
    // The SDK's overloads vary the result with `resolveData`; this world always has the data.
    runs: { get: (id: string) => runs.run(id), list: unsupported("Run lists") } as World["runs"],
    events: {
      create: (runId: string | null, request: CreateEventRequest | RunCreatedEventRequest) => {
        if (runId === null) throw new WorkflowRuntimeError("A run is created under its own id");
        return runs.create(runId, request);
      },
      get: unsupported("Single events"),
      list: async ({ runId }) => ({ data: await runs.events(runId), cursor: null, hasMore: false }),
      listByCorrelationId: unsupported("Event look-ups"),
    },
    steps: { get: unsupported("Step look-ups"), list: unsupported("Step lists") },
    hooks: {
      get: unsupported("Hooks"),
      getByToken: unsupported("Hooks"),
      list: unsupported("Hooks"),
    },
    writeToStream: unsupported("Streams"),
    closeStream: unsupported("Streams"),
    readFromStream: unsupported("Streams"),
    listStreamsByRunId: async () => [],
    getStreamChunks: unsupported("Streams"),
    getStreamInfo: unsupported("Streams"),
  };
}
