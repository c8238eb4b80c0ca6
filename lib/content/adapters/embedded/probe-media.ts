import { realpath } from "node:fs/promises";
import { type AppError, appError, isAppError } from "../../../contract/app-error.ts";
import { isQueueRefusal } from "../../../platform/fair-queue.ts";
import { queueRefused } from "../../../platform/queue-refused.ts";
import type { ProbedMedia } from "../../port.ts";
import { probeQueue } from "./job-queue.ts";
import { runJob } from "./render-process.ts";

const TIMEOUT_MS = 30_000;

/**
 * What a file of a caller holds, by reading it in a child process: an image's every pixel, a video's
 * beginning and end, a sound's whole length. 400 for a file that is none of them, is cut short, is
 * too large once decoded, or takes a decoder down or too long.
 * 429 or 503 when the account has too many probes under way.
 */
export async function probeMedia(
  path: string,
  accountId: string,
  signal: AbortSignal,
): Promise<ProbedMedia | AppError> {
  const file = await realpath(path);
  const request = { op: "probe", path: file } as const;
  const probe = () =>
    runJob({ request, inputs: [file], folder: null, timeoutMs: TIMEOUT_MS, signal });
  const outcome = await probeQueue()
    .run(accountId, signal, probe)
    .catch((error: unknown) => {
      if (isQueueRefusal(error)) return queueRefused(error);
      if (signal.aborted) return { op: "ended" } as const;
      throw error;
    });
  if (isAppError(outcome)) return outcome;
  if (outcome.op === "probe") return outcome.media;
  return appError(
    "invalid_request",
    outcome.op === "unusable" ? outcome.message : "The file cannot be read",
  );
}
