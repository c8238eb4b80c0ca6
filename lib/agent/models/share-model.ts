import type { LanguageModelV4 } from "@ai-sdk/provider";
import { wrapLanguageModel } from "ai";
import { config } from "../../platform/config.ts";
import { FairQueue } from "../../platform/fair-queue.ts";
import { processWide } from "../../platform/process-wide.ts";
import { traceModel } from "./trace-model.ts";
import { watchStream } from "./watch-stream.ts";

/** More than an account's turns and subagents can make at a time, unless their limits are off. */
const MAX_WAITING_CALLS_PER_ACCOUNT = 1_000;

function modelCalls(): FairQueue {
  return processWide("model calls", () => {
    const { MODEL_CALLS_AT_ONCE: slots, QUEUE_WAIT_MS: maxWaitMs } = config();
    return new FairQueue({
      name: "model_calls",
      slots,
      waitersPerAccount: MAX_WAITING_CALLS_PER_ACCOUNT,
      maxWaitMs,
    });
  });
}

/**
 * Returns the model with calls that share the process's slots fairly between accounts. A call holds
 * its slot until the answer is complete, and fails with a QueueRefusal when it waits too long.
 */
export function shareModel(model: LanguageModelV4, accountId: string): LanguageModelV4 {
  return wrapLanguageModel({
    // Inside, because a call's duration must not include its wait for a slot.
    model: traceModel(model),
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
          return { ...rest, stream: watchStream(stream, { end: release }) };
        } catch (error) {
          release();
          throw error;
        }
      },
    },
  });
}
