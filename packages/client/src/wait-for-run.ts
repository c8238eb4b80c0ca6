import { toApiError } from "./api-error.ts";
import { type Connection, delay, retryAfterMs } from "./connection.ts";
import type { components } from "./generated/api.ts";

/** A run. Its `output` is null unless it was started with a schema and has completed. */
export type Run<Output = unknown> = Omit<components["schemas"]["Run"], "output"> & {
  readonly output: Output | null;
};

/** A call of a client tool. The agent wrote its `input`, which is not validated: parse it. */
export type ToolCall = Readonly<components["schemas"]["RequiredAction"]["tool_calls"][number]>;

export interface WaitOptions {
  /** Stops waiting. The run continues. */
  readonly signal?: AbortSignal;
  /** Called with each state that is read. */
  readonly onState?: (run: Run) => void;
  /**
   * Runs a client tool, and returns its output or a promise of it: any JSON, and null for undefined. When it
   * throws, the agent gets the error's message. It is called once for each open call, and at the same time for
   * calls that are open together. If the client ends before it has sent a result, the next `waitForRun` runs the
   * tool again: use the call's `id` as the idempotency key of an effect.
   */
  readonly onToolCall?: (call: ToolCall) => unknown;
}

const POLL_MS = 1_000;
const MAX_ERROR_CHARS = 10_000;

/**
 * Resolves to a run when it has ended, whatever its status is. It polls at the interval that the service
 * asks for. Without `onToolCall`, it also resolves to a run that is `requires_action`, because the run would
 * wait for the results in vain.
 * @throws ApiError when there is no such run, or when the service refuses the result of a call
 */
export async function waitForRun<Output = unknown>(
  connection: Connection,
  runId: string,
  { signal = new AbortController().signal, onState, onToolCall }: WaitOptions = {},
): Promise<Run<Output>> {
  const path = `/api/chat/runs/${encodeURIComponent(runId)}`;
  const failed = new AbortController();
  const aborted = AbortSignal.any([signal, failed.signal]);
  const calls = new Map<string, "running" | "answered">();
  for (;;) {
    // Models exist that use the ids of their calls again.
    for (const [id, state] of calls) if (state === "answered") calls.delete(id);
    const { run, response } = await readRun<Output>(connection, path, aborted);
    onState?.(run);
    if (run.finishedAt !== null) return run;
    if (run.required_action !== null) {
      if (onToolCall === undefined) return run;
      for (const call of run.required_action.tool_calls) {
        if (calls.has(call.id)) continue;
        calls.set(call.id, "running");
        runTool(call, onToolCall)
          .then((result) => sendResult(connection, path, { call, result }, aborted))
          .then(
            () => calls.set(call.id, "answered"),
            (error: unknown) => failed.abort(error),
          );
      }
    }
    await delay(Math.max(POLL_MS, retryAfterMs(response)), aborted);
  }
}

async function readRun<Output>(connection: Connection, path: string, signal: AbortSignal) {
  const response = await connection.repeat(path, {}, signal);
  if (!response.ok) throw await toApiError(response);
  const run: Run<Output> = await response.json();
  return { run, response };
}

/** Resolves to the result of a call as JSON. */
async function runTool(
  call: ToolCall,
  onToolCall: NonNullable<WaitOptions["onToolCall"]>,
): Promise<string> {
  const id = JSON.stringify(call.id);
  try {
    // Undefined has no JSON.
    const output: string | undefined = JSON.stringify(await onToolCall(call));
    return `{"id":${id},"output":${output ?? null}}`;
  } catch (error) {
    const message = (error instanceof Error && error.message) || String(error) || "Unknown error";
    return `{"id":${id},"error":${JSON.stringify(message.slice(0, MAX_ERROR_CHARS))}}`;
  }
}

/** Sends one result, because the service records the results of a request all or not at all. */
async function sendResult(
  connection: Connection,
  path: string,
  { call, result }: { readonly call: ToolCall; readonly result: string },
  signal: AbortSignal,
): Promise<void> {
  const request: RequestInit = {
    method: "POST",
    body: `{"results":[${result}]}`,
    headers: { "content-type": "application/json" },
  };
  for (;;) {
    const response = await connection.repeat(`${path}/tool_results`, request, signal);
    if (response.ok) return void (await response.body?.cancel());
    const error = await toApiError(response);
    if (response.status !== 429) {
      // A call is no longer open when another client has answered it, and when the run has ended.
      const { run } = await readRun(connection, path, signal);
      if (!run.required_action?.tool_calls.some(({ id }) => id === call.id)) return;
      throw error;
    }
    // The result waits until the account may have another active turn.
    await delay(Math.max(POLL_MS, retryAfterMs(response)), signal);
  }
}
