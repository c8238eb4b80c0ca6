/**
 * Runs a generation of images or a video as a task run, which its account finds in
 * `GET /api/tasks/runs`. The run continues when the request ends; the response waits for it up to
 * `CONTENT_TIMEOUT_MS`.
 */
import type { z } from "zod";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { config } from "../platform/config.ts";
import { runTask } from "../tasks/run-task.ts";
import { withWorkFolder } from "./work-folder.ts";

/**
 * How long the work of a run may take. The wait for a slot has its own bound and does not count, so
 * that a run that had to wait has as much time as one that started at once.
 */
const MAX_WORK_MS = 15 * 60 * 1000;

export interface Attempt {
  readonly accountId: string;
  /** Shared by all attempts at a request, which together complete at most one run. */
  readonly effectId: string;
  /** The request's `Idempotency-Key`, which the run shows to its account; null without one. */
  readonly idempotencyKey: string | null;
  /**
   * Keeps a serverless platform from suspending the process while work continues after the response.
   */
  readonly keepAlive: (work: Promise<unknown>) => void;
}

export interface Generation extends Attempt {
  readonly kind: "video" | "image";
  /** The account can read the payload and the metadata: no credentials. */
  readonly payload: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface GenerationTools {
  readonly runId: string;
  /** A temporary folder, removed when the work completes. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Sets the `step` of the run's metadata. */
  readonly progress: (step: string) => Promise<void>;
}

/**
 * Returns the output of the work and the URL of the run.
 *
 * Errors: those of the work; 403 when the account has no room for media; 409 while another attempt is
 * active; 429 when the account has too many active runs; 504 when the deadline of the response or of
 * the run passes. @throws DatabaseUnavailable
 */
export async function runGeneration<T extends object>(
  { accountId, effectId, idempotencyKey, kind, payload, metadata, keepAlive }: Generation,
  outputSchema: z.ZodType<T>,
  work: (tools: GenerationTools) => Promise<T | AppError>,
): Promise<{ output: T; location: string } | AppError> {
  const timedOut = appError("upstream_timeout", `${NAMES[kind]} generation timed out`);
  const taskIdentifier = `generate-${kind}`;
  const { CONTENT_AT_ONCE: maxActiveRuns, CONTENT_TIMEOUT_MS: responseTimeoutMs } = config();
  const { ACCOUNT_MEDIA_BYTES: mediaLimitBytes, RENDER_WAIT_MS } = config();
  const task = {
    ...{ accountId, effectId, idempotencyKey, maxActiveRuns, mediaLimitBytes },
    ...{ taskIdentifier, payload, metadata },
  };
  const started = await runTask<T>(task, async (run) => {
    const signal = AbortSignal.timeout(MAX_WORK_MS + RENDER_WAIT_MS);
    const progress = (step: string) => run.progress({ step });
    const output = await withWorkFolder((folder) =>
      work({ runId: run.id, folder, signal, progress }),
    );
    return signal.aborted && isAppError(output) ? timedOut : output;
  });
  if (isAppError(started)) return started;
  const location = `/api/tasks/runs?runId=${started.runId}`;
  if (!("result" in started)) {
    if (started.output === null) return stillRunning;
    return { output: outputSchema.parse(started.output), location };
  }

  keepAlive(started.result.catch(() => undefined));
  const deadline = Promise.withResolvers<AppError>();
  const timer = setTimeout(() => deadline.resolve(timedOut), responseTimeoutMs);
  const first = Promise.race([started.result, deadline.promise]);
  const output = await first.finally(() => clearTimeout(timer));
  if (!isAppError(output)) return { output, location };
  return { ...output, headers: { ...output.headers, location } };
}

const NAMES = { video: "Video", image: "Image" } as const;

const stillRunning = appError("conflict", "A request with this Idempotency-Key is still running", {
  headers: { "retry-after": "5" },
});
