import { realpath } from "node:fs/promises";
import { type AppError, appError } from "../../http/app-error.ts";
import type { ProbedMedia } from "../provider.ts";
import { mediaQueues } from "./job-queue.ts";
import { runJob } from "./render-process.ts";

const TIMEOUT_MS = 30_000;

/**
 * What a file of a caller holds, by reading it in a child process: an image's every pixel, a video's
 * beginning and end, a sound's whole length. 400 for a file that is none of them, is cut short, is
 * too large once decoded, or takes a decoder down or too long.
 */
export async function probeMedia(
  path: string,
  signal: AbortSignal,
): Promise<ProbedMedia | AppError> {
  const file = await realpath(path);
  const request = { op: "probe", path: file } as const;
  const outcome = await mediaQueues().probes.run(signal, () =>
    runJob({ request, inputs: [file], folder: null, timeoutMs: TIMEOUT_MS, signal }),
  );
  if (outcome?.op === "probe") return outcome.media;
  return appError(
    "invalid_request",
    outcome?.op === "unusable" ? outcome.message : "The file cannot be read",
  );
}
