/**
 * Reads documents in a worker thread with a deadline and a heap limit, because each of them may be hostile, and
 * parsing would block the event loop.
 */
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { z } from "zod";
import type { FairQueue } from "../../platform/fair-queue.ts";
import type { DocumentFormat, DocumentText } from "./document.ts";

const TIMEOUT_MS = 60_000;
const MAX_HEAP_MIB = 1_024;

/** Whose share of this machine the reading takes. */
export interface DocumentReading {
  readonly accountId: string;
  readonly queue: FairQueue;
}

const answer = z.union([
  z.object({ fault: z.string() }),
  z.object({ document: z.custom<DocumentText>((value) => typeof value === "object") }),
]);

/**
 * Returns the text of a document, or why it cannot be read: the end of a sentence that starts with its name.
 * @throws QueueRefusal; the reason of `signal`
 */
export function readDocument(
  { accountId, queue }: DocumentReading,
  format: DocumentFormat,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<DocumentText | string> {
  return queue.run(accountId, signal, async () => {
    const read = await runWorker(format, bytes, signal);
    signal.throwIfAborted();
    return read;
  });
}

/** Resolves also for a document that takes all memory or time. Any other failure of the worker is a bug. */
function runWorker(
  format: DocumentFormat,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<DocumentText | string> {
  return new Promise((resolve, reject) => {
    // The bundler recognizes this form and bundles the worker too.
    const code = join(process.cwd(), "lib", "agent", "documents", "document-worker.ts");
    const worker = new Worker(code, {
      workerData: { format, bytes },
      env: {},
      execArgv: ["--no-warnings"],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    });
    let result: DocumentText | string =
      `takes longer than ${TIMEOUT_MS / 1000} s to read: split it`;
    const end = () => {
      clearTimeout(deadline);
      signal.removeEventListener("abort", end);
      void worker.terminate();
      resolve(result);
    };
    const deadline = setTimeout(end, TIMEOUT_MS);
    signal.addEventListener("abort", end, { once: true });
    worker
      .once("message", (given) => {
        const parsed = answer.parse(given);
        result = "fault" in parsed ? parsed.fault : parsed.document;
        end();
      })
      .once("error", (error) => {
        const isTooLarge =
          error instanceof RangeError ||
          ("code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY");
        if (!isTooLarge) reject(error);
        result = "needs too much memory to read: split it";
        end();
      });
  });
}
