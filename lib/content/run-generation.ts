/**
 * What videos and images have in common: a task run that its account finds in `GET /api/tasks/runs`,
 * which goes on whatever becomes of the request, and an answer that waits for it for a while.
 */
import type { z } from "zod";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { config } from "../platform/config.ts";
import { runTask } from "../tasks/run-task.ts";
import { withWorkFolder } from "./work-folder.ts";

/**
 * Milliseconds that the work of a run may take. The wait for a turn is bounded by itself and does not
 * count, so a run that had to wait has as long to work as one that began at once.
 */
const WORK_LIMIT_MS = 15 * 60 * 1000;

export interface Attempt {
  readonly accountId: string;
  /** All attempts at one request have it in common, and come to one completed run. */
  readonly effectId: string;
  /** The request's `Idempotency-Key`, which the run shows; null without one. */
  readonly idempotencyKey: string | null;
  /** Told of work that goes on after the answer, for a platform that puts processes to sleep. */
  readonly keepAlive: (work: Promise<unknown>) => void;
}

export interface Generation extends Attempt {
  readonly kind: "video" | "image";
  /** Both are shown to the account: no credentials. */
  readonly payload: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface GenerationTools {
  readonly runId: string;
  /** Gone when the work is done. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Shown in the run. */
  readonly progress: (step: string) => Promise<void>;
}

/**
 * What the work put out, and where the account finds the run.
 * Errors: those of the work; 403 while the account has no room for media; 409 while another attempt
 * is under way; 429 while the account has too many; 504 at the answer's deadline or the run's. @throws DatabaseUnavailable
 */
export async function runGeneration<T extends object>(
  { accountId, effectId, idempotencyKey, kind, payload, metadata, keepAlive }: Generation,
  outputSchema: z.ZodType<T>,
  work: (tools: GenerationTools) => Promise<T | AppError>,
): Promise<{ output: T; location: string } | AppError> {
  const timedOut = appError("upstream_timeout", `${NAMES[kind]} generation timed out`);
  const taskIdentifier = `generate-${kind}`;
  const { CONTENT_AT_ONCE: maxActiveRuns, CONTENT_TIMEOUT_MS: patienceMs } = config();
  const { ACCOUNT_MEDIA_BYTES: mediaLimitBytes, RENDER_WAIT_MS } = config();
  const task = {
    ...{ accountId, effectId, idempotencyKey, maxActiveRuns, mediaLimitBytes },
    ...{ taskIdentifier, payload, metadata },
  };
  const started = await runTask<T>(task, async (run) => {
    const signal = AbortSignal.timeout(WORK_LIMIT_MS + RENDER_WAIT_MS);
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
  const timer = setTimeout(() => deadline.resolve(timedOut), patienceMs);
  const first = Promise.race([started.result, deadline.promise]);
  const output = await first.finally(() => clearTimeout(timer));
  if (!isAppError(output)) return { output, location };
  return { ...output, headers: { ...output.headers, location } };
}

const NAMES = { video: "Video", image: "Image" } as const;

const stillRunning = appError("conflict", "A request with this Idempotency-Key is still running", {
  headers: { "retry-after": "5" },
});
