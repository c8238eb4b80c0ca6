/**
 * What a file of a caller holds, by its container alone: parsed in JavaScript, without native code
 * and without decoding. Each file gets a worker thread of its own, with a deadline and a heap limit,
 * because a hostile container could keep a parser busy for ever.
 */
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { z } from "zod";
import type { AppError } from "../../contract/app-error.ts";
import { FairQueue, isQueueRefusal } from "../../platform/fair-queue.ts";
import { log } from "../../platform/log.ts";
import { processWide } from "../../platform/process-wide.ts";
import { queueRefused } from "../../platform/queue-refused.ts";

const TIMEOUT_MS = 15_000;
const MAX_HEAP_MIB = 256;

/** A queue apart from that of renderings: a probe takes moments and must not wait for minutes. */
const probeQueue = () =>
  processWide(
    "probes",
    () => new FairQueue({ slots: 4, waitersPerAccount: 100, maxWaitMs: 60_000 }),
  );

const probedMedia = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("image"), width: z.number(), height: z.number() }),
  z.object({
    kind: z.enum(["video", "audio"]),
    /** Of a video, the length of its pictures: audio beside them often ends a little later. */
    seconds: z.number().positive(),
    hasAudio: z.boolean(),
  }),
]);
export type ProbedMedia = z.output<typeof probedMedia>;

/**
 * Null for what is no container or image of a supported format, or takes too long or too much.
 * Errors: 429 or 503 when the account has too many probes under way.
 */
export async function probeMedia(
  path: string,
  accountId: string,
  signal: AbortSignal,
): Promise<ProbedMedia | AppError | null> {
  try {
    const found = await probeQueue().run(accountId, signal, () => runWorker(path, signal));
    return probedMedia.safeParse(found).data ?? null;
  } catch (error) {
    if (isQueueRefusal(error)) return queueRefused(error);
    if (signal.aborted) return null;
    throw error;
  }
}

function runWorker(path: string, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    // The server's bundler knows this form: it packs the worker too, and wants its data as an object.
    const code = join(process.cwd(), "lib", "content", "media", "probe-worker.ts");
    const worker = new Worker(code, {
      workerData: { path },
      env: {},
      execArgv: ["--no-warnings"],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    });
    const end = (answer: unknown) => {
      clearTimeout(deadline);
      signal.removeEventListener("abort", giveUp);
      void worker.terminate();
      resolve(answer);
    };
    const giveUp = () => end(null);
    const deadline = setTimeout(giveUp, TIMEOUT_MS);
    signal.addEventListener("abort", giveUp, { once: true });
    worker
      .once("message", end)
      .once("exit", giveUp)
      .once("error", (error) => {
        // Out of memory, or a fault of ours: the worker itself answers for what a file is not.
        log().warn({ cause: error.message }, "probing");
        giveUp();
      });
  });
}
