import { setTimeout as delay } from "node:timers/promises";
import type { Worker } from "node:worker_threads";

/** Why a worker has ended: after its last message, at its deadline, on a signal, or without an answer. */
export type WorkerEnd = "answered" | "late" | "aborted" | "exhausted" | "exited";

/** How often the deadline of a thread is moved that had less than its time on a busy machine. */
const MAX_EXTENSIONS = 5;
const MIN_EXTENSION_MS = 50;
const MAX_ANSWER_MS = 1_000;

/** Returns how long a thread has run; undefined if that is unknown. */
async function runMsOf(worker: Worker): Promise<number | undefined> {
  // Node.js before 24.6 lacks this method. It fails for a thread that has ended, and does not
  // answer while the thread is held up in the system or in a long call of native code.
  const asking = worker.cpuUsage?.().catch(() => undefined);
  const usage = await Promise.race([asking, delay(MAX_ANSWER_MS, undefined)]);
  return usage && (usage.user + usage.system) / 1_000;
}

/**
 * Resolves when a worker thread for hostile input has ended, and terminates it at its deadline. `exhausted` is a
 * worker that has used up its heap or its stack; every other failure of a worker is a bug, and rejects.
 * @param isLast receives the messages, and returns whether one is the last
 * @param options `timeoutMs` is of the time that the thread has run; it ends after six times as long at the latest
 */
export function superviseWorker(
  worker: Worker,
  isLast: (message: unknown) => boolean,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<WorkerEnd> {
  return new Promise((resolve, reject) => {
    let hasEnded = false;
    const end = (reason: WorkerEnd) => {
      clearTimeout(deadline);
      signal?.removeEventListener("abort", abort);
      void worker.terminate();
      hasEnded = true;
      resolve(reason);
    };
    const abort = () => end("aborted");
    let extensions = 0;
    const look = async () => {
      const ranMs = extensions++ < MAX_EXTENSIONS ? await runMsOf(worker) : undefined;
      if (hasEnded) return;
      if (ranMs === undefined || ranMs >= timeoutMs) end("late");
      else deadline = setTimeout(look, Math.max(timeoutMs - ranMs, MIN_EXTENSION_MS));
    };
    let deadline = setTimeout(look, timeoutMs);
    signal?.addEventListener("abort", abort, { once: true });
    worker
      // On a busy machine, a thread may take seconds to start.
      .once("online", () => deadline.refresh())
      .on("message", (message) => {
        if (isLast(message)) end("answered");
      })
      .once("exit", () => end("exited"))
      .once("error", (error) => {
        const isOutOfMemory = "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
        if (!isOutOfMemory && !(error instanceof RangeError)) reject(error);
        end("exhausted");
      });
  });
}
