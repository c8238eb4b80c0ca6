import type { Worker } from "node:worker_threads";

/** Why a worker has ended: after its last message, at its deadline, on a signal, or without an answer. */
export type WorkerEnd = "answered" | "late" | "aborted" | "exhausted" | "exited";

/**
 * Resolves when a worker thread for hostile input has ended, and terminates it at its deadline. `exhausted` is a
 * worker that has used up its heap or its stack; every other failure of a worker is a bug, and rejects.
 * @param isLast receives the messages, and returns whether one is the last
 */
export function superviseWorker(
  worker: Worker,
  isLast: (message: unknown) => boolean,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<WorkerEnd> {
  return new Promise((resolve, reject) => {
    const end = (reason: WorkerEnd) => {
      clearTimeout(deadline);
      signal?.removeEventListener("abort", abort);
      void worker.terminate();
      resolve(reason);
    };
    const abort = () => end("aborted");
    const deadline = setTimeout(() => end("late"), timeoutMs);
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
