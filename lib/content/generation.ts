/** The making of an image or a video, and the errors that it ends with. */
import type { z } from "zod";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { type Caller, keyIdOf } from "../identity/credentials/caller.ts";
import { config } from "../platform/config.ts";

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

/** The output of a generation and the URL of its run. */
export interface Generated<T> {
  readonly output: T;
  readonly location: string;
}

/** Returns the task of a generation, with the limits of the settings. */
export function taskOf({ caller, effectId, idempotencyKey, ...generation }: Generation) {
  const { accountId } = caller;
  const { CONTENT_AT_ONCE: maxActiveRuns, ACCOUNT_MEDIA_BYTES: mediaLimitBytes } = config();
  const { kind, payload, metadata, artistId, costUsd } = generation;
  return {
    ...{ accountId, effectId, idempotencyKey, maxActiveRuns, mediaLimitBytes },
    ...{ taskIdentifier: `generate-${kind}`, payload, metadata },
    ...{ artistId, costUsd, credentialId: keyIdOf(caller) },
  };
}

/** Returns the output of another attempt's run. Errors: 409 while it is active. */
export function earlier<T>(
  { runId, output }: { readonly runId: string; readonly output: unknown },
  outputSchema: z.ZodType<T>,
): Generated<T> | AppError {
  if (output === null) return stillRunning;
  return { output: outputSchema.parse(output), location: locationOf(runId) };
}

/** Adds the URL of the run to its output or error. */
export function locate<T extends object>(
  runId: string,
  output: T | AppError,
): Generated<T> | AppError {
  const location = locationOf(runId);
  if (!isAppError(output)) return { output, location };
  return { ...output, headers: { ...output.headers, location } };
}

const locationOf = (runId: string) => `/api/tasks/runs?runId=${runId}`;

export const timedOut = (kind: Generation["kind"]): AppError =>
  appError("upstream_timeout", `${NAMES[kind]} generation timed out`);

const NAMES = { video: "Video", image: "Image" } as const;

const stillRunning = appError(
  "idempotency_in_progress",
  "A request with this Idempotency-Key is still running",
  {
    headers: { "retry-after": "5" },
  },
);
