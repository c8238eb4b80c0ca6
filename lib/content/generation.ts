/**
 * Runs the making of an image or a video as a task run with a durable workflow, which outlives this process. The
 * response waits for it up to `CONTENT_TIMEOUT_MS`.
 */

import { setTimeout as delay } from "node:timers/promises";
import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import { log } from "@platform/kit/log";
import { continueTrace, traceparent } from "@platform/kit/telemetry/spans";
import { generationFailed, generationTimedOut } from "@platform/media/port";
import { z } from "zod";
import { type Caller, keyIdOf } from "../identity/credentials/caller.ts";
import type { Parts } from "../parts.ts";
import { config } from "../platform/config.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { sealText } from "../platform/seal-text.ts";
import { beginRun, queueJob, recordRemoteRun, selectRun, takeJob } from "../task-runs/store.ts";
import type { TaskRun } from "../task-runs/task-run.ts";
import {
  failGeneration,
  type GenerationJob,
  type GenerationRequest,
  generationJob,
} from "./generation-steps.ts";
import { GENERATION_WORKFLOW } from "./generation-workflow.ts";

/** The parts of the service that start a generation. */
export type StartParts = Parts<"db" | "webhookWorker" | "engine" | "taskRunner">;

export interface Attempt {
  readonly caller: Caller;
  /** Shared by all attempts at a request, which together complete at most one run. */
  readonly effectId: string;
  /** The request's `Idempotency-Key`, which the run shows to its account; null without one. */
  readonly idempotencyKey: string | null;
  /**
   * Keeps a serverless platform from suspending the process while work continues after the response.
   */
  readonly keepAlive: (work: Promise<unknown>) => void;
  /** Ends the wait for the run, in place of `CONTENT_TIMEOUT_MS`. The run continues. */
  readonly signal?: AbortSignal;
}

export interface Generation extends Attempt {
  readonly kind: "video" | "image";
  /** Undefined stands for the artist of the run whose credential the caller has, if there is one. */
  readonly artistId: string | undefined;
  /** In USD; null when the price is not known. */
  readonly costUsd: number | null;
  /** The account can read the payload and the metadata: no credentials. */
  readonly payload: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const POLL_MS = 300;
/** Until the workflow's first step renews it. A process that dies before blocks a retry for as long. */
const LEASE_SECONDS = 120;
/** A job that the task runner does not ask for in this time is started here: its caller waits for it. */
const START_WAIT_MS = 10_000;

const stillRunning = appError(
  "idempotency_in_progress",
  "A request with this Idempotency-Key is still running",
  { headers: { "retry-after": "5" } },
);

/** The errors that a run may end with and its request answers with. */
const endingError = z.object({
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

/**
 * Returns the output of the run and the URL of the run, which the headers of an error have, too.
 *
 * Errors: all errors of the provider; 403 when the account has no room for media; 409 while another attempt is
 * active; 429 when the account has too many active runs; 504 when the deadline of the response or of the
 * run passes.
 * @throws DatabaseUnavailable
 */
export async function queueGeneration<T extends object>(
  app: StartParts,
  generation: Generation,
  request: GenerationRequest,
  outputSchema: z.ZodType<T>,
): Promise<{ readonly output: T; readonly location: string } | AppError> {
  const { caller, kind, payload, metadata, artistId, costUsd } = generation;
  const { effectId, idempotencyKey } = generation;
  const { accountId } = caller;
  const credentialId = keyIdOf(caller);
  const { CONTENT_AT_ONCE: maxActiveRuns, ACCOUNT_MEDIA_BYTES: mediaLimitBytes } = config();
  // The words of an order come from the session in which it was made.
  const session =
    caller.credential.kind === "run" ? { sessionId: caller.credential.run.sessionId } : {};
  const begun = await beginRun(app.db, {
    ...{ accountId, effectId, idempotencyKey, maxActiveRuns, mediaLimitBytes, artistId, costUsd },
    ...{ taskIdentifier: `generate-${kind}`, payload, credentialId },
    metadata: { ...metadata, ...session },
    leaseSeconds: LEASE_SECONDS,
  });
  if (isAppError(begun)) return begun;
  const { runId } = begun;
  const location = `/api/tasks/runs?runId=${runId}`;
  if ("output" in begun) {
    if (begun.output === null) return stillRunning;
    return { output: outputSchema.parse(begun.output), location };
  }
  const sealed = sealText(JSON.stringify(request), runId);
  const trace = traceparent();
  const traced = trace === undefined ? {} : { traceparent: trace };
  await dispatchJob(app, { runId, accountId, sealed, credentialId, ...traced }, generation);
  const run = await untilEnded(app.db, accountId, runId, generation);
  if (isAppError(run)) return { ...run, headers: { ...run.headers, location } };
  return { output: outputSchema.parse(run.output), location };
}

/**
 * Waits for the run that an earlier attempt has started, and starts none; null if that has not. Errors: as
 * `queueGeneration`.
 */
export async function awaitEarlier(
  db: Database,
  accountId: string,
  effectId: string,
  wait: Pick<Generation, "kind" | "signal">,
): Promise<TaskRun | AppError | null> {
  const runId = await call(db, "find_generation", { accountId, effectId });
  return runId === null ? null : untilEnded(db, accountId, runId, wait);
}

async function untilEnded(
  db: Database,
  accountId: string,
  runId: string,
  { kind, signal }: Pick<Generation, "kind" | "signal">,
): Promise<TaskRun | AppError> {
  const patience = signal ?? AbortSignal.timeout(config().CONTENT_TIMEOUT_MS);
  while (!patience.aborted) {
    // Hundreds of polls say nothing in a trace.
    const run = await continueTrace(undefined, () => selectRun(db, accountId, runId));
    if (run?.status === "COMPLETED") return run;
    if (run?.status !== "EXECUTING") return errorOf(run, kind);
    await delay(POLL_MS, undefined, { signal: patience }).catch(() => {});
  }
  return generationTimedOut(kind);
}

function errorOf(run: TaskRun | null, kind: Generation["kind"]): AppError {
  const { data } = endingError.safeParse(run?.error);
  if (!data) return generationFailed(kind);
  const isBusy = data.name === "rate_limited" || data.name === "unavailable";
  return appError(data.name, data.message, isBusy ? { headers: { "retry-after": "5" } } : {});
}

/** @throws Error when the run cannot be started, after the task run has been ended as failed */
export async function startJob(
  app: Omit<StartParts, "taskRunner">,
  stored: unknown,
): Promise<void> {
  const job = generationJob.parse(stored);
  try {
    await app.engine.startWorkflow(GENERATION_WORKFLOW, job);
  } catch (error) {
    await failGeneration(app, job);
    throw error;
  }
}

/**
 * Has the task runner start the job, or starts it where there is none, and where it does not take the
 * task. @throws Error as `startJob`
 */
async function dispatchJob(
  app: StartParts,
  job: GenerationJob,
  { kind, keepAlive }: Pick<Generation, "kind" | "keepAlive">,
): Promise<void> {
  const { taskRunner } = app;
  if (!taskRunner.start) return startJob(app, job);
  const { accountId, runId } = job;
  await queueJob(app.db, accountId, runId, job);
  const task = { accountId, taskIdentifier: `generate-${kind}`, taskRunId: runId } as const;
  const remoteId = await taskRunner.start(task, log());
  // It may have taken a task that it did not confirm in time.
  if (isAppError(remoteId)) return startUntaken(app, job);
  await recordRemoteRun(app.db, accountId, runId, remoteId);
  const late = delay(START_WAIT_MS, undefined, { ref: false }).then(() => startUntaken(app, job));
  keepAlive(
    late.catch((error: unknown) =>
      log().error({ err: error, runId }, "a generation could not be started"),
    ),
  );
}

async function startUntaken(app: StartParts, { accountId, runId }: GenerationJob): Promise<void> {
  const job = await takeJob(app.db, accountId, runId);
  if (job !== null) await startJob(app, job);
}
