/**
 * Runs a generation as a task run with a durable workflow, which outlives this process. The response waits
 * for it up to `CONTENT_TIMEOUT_MS`.
 */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { keyIdOf } from "../identity/credentials/caller.ts";
import { config } from "../platform/config.ts";
import { sealText } from "../platform/seal-text.ts";
import { continueTrace, traceparent } from "../platform/telemetry/spans.ts";
import { beginRun } from "../tasks/begin-run.ts";
import { selectRun } from "../tasks/store.ts";
import type { TaskRun } from "../tasks/task-run.ts";
import {
  earlier,
  type Generated,
  type Generation,
  locate,
  taskOf,
  timedOut,
} from "./generation.ts";
import type { GenerationRequest } from "./generation-steps.ts";
import { generationFailed } from "./port.ts";
import { dispatchJob } from "./start-job.ts";

const POLL_MS = 300;
/** Until the workflow's first step renews it. A process that dies before blocks a retry for as long. */
const LEASE_SECONDS = 120;

/**
 * Returns the output of the run.
 *
 * Errors: those of the provider; 403 when the account has no room for media; 409 while another attempt is
 * active; 429 when the account has too many active runs; 504 when the deadline of the response or of the
 * run passes.
 * @throws DatabaseUnavailable
 */
export async function queueGeneration<T extends object>(
  generation: Generation,
  request: GenerationRequest,
  outputSchema: z.ZodType<T>,
): Promise<Generated<T> | AppError> {
  const { caller, kind } = generation;
  const { accountId } = caller;
  const begun = await beginRun(taskOf(generation), LEASE_SECONDS);
  if (isAppError(begun)) return begun;
  if ("output" in begun) return earlier(begun, outputSchema);
  const { runId } = begun;
  const sealed = sealText(JSON.stringify(request), runId);
  const trace = traceparent();
  const job = {
    ...{ runId, accountId, sealed, credentialId: keyIdOf(caller) },
    ...(trace !== undefined && { traceparent: trace }),
  };
  await dispatchJob(job, generation);
  const run = await untilEnded(accountId, runId, kind);
  return locate(runId, isAppError(run) ? run : outputSchema.parse(run.output));
}

async function untilEnded(
  accountId: string,
  runId: string,
  kind: Generation["kind"],
): Promise<TaskRun | AppError> {
  const patience = AbortSignal.timeout(config().CONTENT_TIMEOUT_MS);
  while (!patience.aborted) {
    // Hundreds of polls say nothing in a trace.
    const run = await continueTrace(undefined, () => selectRun(accountId, runId));
    if (run?.status === "COMPLETED") return run;
    if (run?.status !== "EXECUTING") return errorOf(run, kind);
    await delay(POLL_MS, undefined, { signal: patience }).catch(() => {});
  }
  return timedOut(kind);
}

/** The errors that a run may end with and its request answers with. */
const shown = z.object({
  name: z.enum([
    "forbidden",
    "invalid_request",
    "media_full",
    "not_found",
    "rate_limited",
    "unavailable",
    "upstream_error",
    "upstream_timeout",
  ]),
  message: z.string(),
});

function errorOf(run: TaskRun | null, kind: Generation["kind"]): AppError {
  const { data } = shown.safeParse(run?.error);
  if (!data) return generationFailed(kind);
  const isBusy = data.name === "rate_limited" || data.name === "unavailable";
  return appError(data.name, data.message, isBusy ? { headers: { "retry-after": "5" } } : {});
}
