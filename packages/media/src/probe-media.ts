/**
 * Determines the content of a caller's file from its container alone: parsed in JavaScript, without
 * native code and without decoding. Each file gets its own worker thread with a deadline and a heap
 * limit, because a hostile container could keep a parser busy forever.
 */
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { AppError } from "@platform/endpoint/contract/app-error";
import { queueRefused } from "@platform/endpoint/contract/queue-refused";
import { type FairQueue, isQueueRefusal } from "@platform/kit/fair-queue";
import { log } from "@platform/kit/log";
import { superviseWorker } from "@platform/kit/supervise-worker";
import { z } from "zod";

const TIMEOUT_MS = 15_000;
const MAX_HEAP_MIB = 256;

const probedMedia = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("image"), width: z.number(), height: z.number() }),
  z.object({
    kind: z.enum(["video", "audio"]),
    /** For a video, the length of its video track: its audio often ends slightly later. */
    seconds: z.number().positive(),
    hasAudio: z.boolean(),
    /** The sides of a video as it is shown. */
    width: z.number().optional(),
    height: z.number().optional(),
  }),
]);
export type ProbedMedia = z.output<typeof probedMedia>;

/**
 * Returns null for a file that is not a supported container or image, or that exceeds the deadline or
 * the heap limit. Errors: 429 or 503 when too many probes of the account are waiting.
 */
export async function probeMedia(
  queue: FairQueue,
  path: string,
  accountId: string,
  signal: AbortSignal,
): Promise<ProbedMedia | AppError | null> {
  try {
    const found = await queue.run(accountId, signal, () => runWorker(path, signal));
    return probedMedia.safeParse(found).data ?? null;
  } catch (error) {
    if (isQueueRefusal(error)) return queueRefused(error);
    if (signal.aborted) return null;
    throw error;
  }
}

async function runWorker(path: string, signal: AbortSignal): Promise<unknown> {
  // The bundler recognizes this form and bundles the worker too; it requires `workerData` to be an
  // object.
  const code = join(process.cwd(), "packages", "media", "src", "probe-worker.ts");
  const worker = new Worker(code, {
    workerData: { path },
    env: {},
    execArgv: ["--no-warnings"],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
  });
  let found: unknown = null;
  const keep = (given: unknown) => {
    found = given;
    return true;
  };
  try {
    await superviseWorker(worker, keep, { timeoutMs: TIMEOUT_MS, signal });
  } catch (error) {
    // A bug: the worker catches all errors that a file can cause.
    log().warn({ cause: String(error) }, "A media probe failed");
  }
  return found;
}
