import { toApiError } from "./api-error.ts";
import { type Connection, delay, retryAfterMs } from "./connection.ts";
import type { components } from "./generated/api.ts";

/** A run. Its `output` is null unless it was started with a schema and has completed. */
export type Run<Output = unknown> = Omit<components["schemas"]["Run"], "output"> & {
  readonly output: Output | null;
};

/** A call of a client tool. The agent wrote its `input`, which is not validated: parse it. */
export type ToolCall = Readonly<components["schemas"]["RequiredAction"]["tool_calls"][number]>;

/** A call that an agent asks to make. An approval covers exactly its `input`. */
export type ApprovalRequest = Readonly<
  components["schemas"]["RequiredAction"]["approvals"][number]
>;

export interface ApprovalAnswer {
  readonly approved: boolean;
  /** The reason for the denial, which the agent receives. */
  readonly reason?: string;
  /** Approves calls that are like this one, for the rest of the chat or for all runs of the task. */
  readonly remember?: "chat" | "task";
}

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
  /**
   * Answers a request of the agent. It is called once for each open one. When it throws, the waiting ends with its
   * error, and the request stays open.
   */
  readonly onApproval?: (request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>;
}

const POLL_MS = 1_000;
const MAX_ERROR_CHARS = 10_000;

/**
 * Resolves to a run when it has ended, whatever its status is. It polls at the interval that the service
 * asks for. Without `onToolCall` or `onApproval`, it also resolves to a run that is `requires_action` and needs
 * it, because the run would wait in vain.
 * @throws ApiError if the run does not exist, or if the service refuses the result of a call or an answer
 */
export async function waitForRun<Output = unknown>(
  connection: Connection,
  runId: string,
  { signal = new AbortController().signal, onState, onToolCall, onApproval }: WaitOptions = {},
): Promise<Run<Output>> {
  const path = `/api/chat/runs/${encodeURIComponent(runId)}`;
  const failed = new AbortController();
  const aborted = AbortSignal.any([signal, failed.signal]);
  const answers = new Map<string, "running" | "answered">();
  const answerOnce = (id: string, answer: () => Promise<void>) => {
    if (answers.has(id)) return;
    answers.set(id, "running");
    answer().then(
      () => answers.set(id, "answered"),
      (error: unknown) => failed.abort(error),
    );
  };
  for (;;) {
    // Models exist that use the ids of their calls again.
    for (const [id, state] of answers) if (state === "answered") answers.delete(id);
    const { run, response } = await readRun<Output>(connection, path, aborted);
    onState?.(run);
    if (run.finishedAt !== null) return run;
    const { tool_calls = [], approvals = [] } = run.required_action ?? {};
    for (const call of tool_calls) {
      if (onToolCall === undefined) return run;
      answerOnce(`call ${call.id}`, async () => {
        // One result, because the service records the results of a request all or not at all.
        const body = `{"results":[${await runTool(call, onToolCall)}]}`;
        const isOpen: IsOpen = (action) => action.tool_calls.some(({ id }) => id === call.id);
        await sendAnswer(connection, path, { to: "tool_results", body, isOpen }, aborted);
      });
    }
    for (const request of approvals) {
      if (onApproval === undefined) return run;
      answerOnce(`approval ${request.id}`, async () => {
        const body = JSON.stringify(await onApproval(request));
        const isOpen: IsOpen = (action) => action.approvals.some(({ id }) => id === request.id);
        const to = `approvals/${request.id}`;
        await sendAnswer(connection, path, { to, body, isOpen }, aborted);
      });
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

type IsOpen = (action: NonNullable<Run["required_action"]>) => boolean;

interface Answer {
  /** The last part of the address. */
  readonly to: string;
  readonly body: string;
  /** Whether the run still waits for it. */
  readonly isOpen: IsOpen;
}

async function sendAnswer(
  connection: Connection,
  path: string,
  { to, body, isOpen }: Answer,
  signal: AbortSignal,
): Promise<void> {
  const request: RequestInit = {
    method: "POST",
    body,
    headers: { "content-type": "application/json" },
  };
  for (;;) {
    const response = await connection.repeat(`${path}/${to}`, request, signal);
    if (response.ok) return void (await response.body?.cancel());
    const error = await toApiError(response);
    if (response.status !== 429) {
      // It is no longer open when another client has answered it, and when the run has ended.
      const { run } = await readRun(connection, path, signal);
      if (!run.required_action || !isOpen(run.required_action)) return;
      throw error;
    }
    // The answer waits until the account may have another active turn.
    await delay(Math.max(POLL_MS, retryAfterMs(response)), signal);
  }
}
