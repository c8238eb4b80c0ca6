import type { LanguageModelV4 } from "@ai-sdk/provider";
import { wrapLanguageModel } from "ai";
import { config } from "../../platform/config.ts";
import { FairQueue } from "../../platform/fair-queue.ts";
import { processWide } from "../../platform/process-wide.ts";

/** More than an account's turns and subagents can make at a time, unless their limits are off. */
const MAX_WAITING_CALLS_PER_ACCOUNT = 1_000;

function modelCalls(): FairQueue {
  return processWide("model calls", () => {
    const { MODEL_CALLS_AT_ONCE: slots, MODEL_CALL_WAIT_MS: maxWaitMs } = config();
    return new FairQueue({ slots, waitersPerAccount: MAX_WAITING_CALLS_PER_ACCOUNT, maxWaitMs });
  });
}

/**
 * Returns the model with calls that share the process's slots fairly between accounts. A call holds
 * its slot until the answer is complete, and fails with a QueueRefusal when it waits too long.
 */
export function shareModel(model: LanguageModelV4, accountId: string): LanguageModelV4 {
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      wrapGenerate: ({ doGenerate, params }) =>
        modelCalls().run(accountId, params.abortSignal, async () => doGenerate()),
      async wrapStream({ doStream, params }) {
        const release = await modelCalls().acquire(accountId, params.abortSignal);
        // A caller that aborts may leave the stream unread.
        params.abortSignal?.addEventListener("abort", release, { once: true });
        try {
          const { stream, ...rest } = await doStream();
          return { ...rest, stream: onceEnded(stream, release) };
        } catch (error) {
          release();
          throw error;
        }
      },
    },
  });
}

/** Returns the stream, and calls `end` when it has ended, has failed or is cancelled. */
function onceEnded<T>(stream: ReadableStream<T>, end: () => void): ReadableStream<T> {
  const reader = stream.getReader();
  return new ReadableStream<T>({
    async pull(controller) {
      const next = await reader.read().catch((error: unknown) => {
        end();
        throw error;
      });
      if (!next.done) return controller.enqueue(next.value);
      end();
      controller.close();
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
}
