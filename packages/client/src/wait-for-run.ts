import { toApiError } from "./api-error.ts";
import { type Connection, delay, retryAfterMs } from "./connection.ts";
import type { components } from "./generated/api.ts";

/** A run. Its `output` is null unless it was started with a schema and has completed. */
export type Run<Output = unknown> = Omit<components["schemas"]["Run"], "output"> & {
  readonly output: Output | null;
};

export interface WaitOptions {
  /** Stops waiting. The run continues. */
  readonly signal?: AbortSignal;
  /** Called with each state that is read. */
  readonly onState?: (run: Run) => void;
}

const POLL_MS = 1_000;

/**
 * Resolves to a run when it has ended, whatever its status is. It polls at the interval that the service
 * asks for.
 * @throws ApiError when there is no such run
 */
export async function waitForRun<Output = unknown>(
  connection: Connection,
  runId: string,
  { signal = new AbortController().signal, onState }: WaitOptions = {},
): Promise<Run<Output>> {
  for (;;) {
    const path = `/api/chat/runs/${encodeURIComponent(runId)}`;
    const response = await connection.repeat(path, {}, signal);
    if (!response.ok) throw await toApiError(response);
    const run: Run<Output> = await response.json();
    onState?.(run);
    if (run.finishedAt !== null) return run;
    await delay(Math.max(POLL_MS, retryAfterMs(response)), signal);
  }
}
