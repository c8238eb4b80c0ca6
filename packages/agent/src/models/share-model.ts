import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import type { FairQueue } from "@platform/kit/fair-queue";
import { record, startTimer } from "@platform/kit/telemetry/metrics";
import { isObserved, recordsContent, toContent } from "@platform/kit/telemetry/providers";
import { errorType, openSpan } from "@platform/kit/telemetry/spans";
import { wrapLanguageModel } from "ai";
import { z } from "zod";
import { endWith, watchStream } from "./watch-stream.ts";

/**
 * Returns the model with calls that share the slots of `queue` fairly between accounts. A call holds
 * its slot until the answer is complete, and fails with a QueueRefusal when it waits too long.
 */
export function shareModel(
  queue: FairQueue,
  model: LanguageModelV4,
  accountId: string,
): LanguageModelV4 {
  return wrapLanguageModel({
    // Inside, because a call's duration must not include its wait for a slot.
    model: traceModel(model),
    middleware: {
      specificationVersion: "v4",
      wrapGenerate: ({ doGenerate, params }) =>
        queue.run(accountId, params.abortSignal, async () => doGenerate()),
      async wrapStream({ doStream, params }) {
        const release = await queue.acquire(accountId, params.abortSignal);
        const end = endWith(params.abortSignal, release);
        try {
          const { stream, ...rest } = await doStream();
          return { ...rest, stream: watchStream(stream, { end }) };
        } catch (error) {
          end();
          throw error;
        }
      },
    },
  });
}

/** No model call costs more, so a vendor that bills more is not believed. */
const MAX_CALL_USD = 1_000_000;

const usd = z.number().nonnegative().max(MAX_CALL_USD);
/** The AI Gateway adds the cost to an answer, and may do so as a text. */
const ofGateway = z.object({
  // Without the union, null would be coerced to 0.
  gateway: z.object({
    cost: z
      .union([z.number(), z.string().min(1)])
      .transform(Number)
      .pipe(usd),
  }),
});
const ofServer = z.object({ cost: usd });

/** Returns the cost of an answer in USD as its vendor reports it, if it does. */
export const billedUsd = (
  { raw }: LanguageModelV4Usage,
  metadata: SharedV4ProviderMetadata | undefined,
): number | undefined =>
  ofGateway.safeParse(metadata).data?.gateway.cost ?? ofServer.safeParse(raw).data?.cost;

/**
 * Returns the model with a span and metrics of each call: its model, tokens and duration. Returns the model
 * itself where nothing is recorded.
 */
function traceModel(model: LanguageModelV4): LanguageModelV4 {
  if (!isObserved()) return model;
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      async wrapGenerate({ doGenerate, params }) {
        const call = openCall(model, params);
        try {
          const result = await call.run(async () => doGenerate());
          call.finish(result.finishReason, result.usage);
          if (recordsContent()) call.answer(result.content);
          call.end();
          return result;
        } catch (error) {
          call.end(error);
          throw error;
        }
      },
      async wrapStream({ doStream, params }) {
        const call = openCall(model, params);
        const end = endWith(params.abortSignal, call.end);
        try {
          const { stream, ...rest } = await call.run(async () => doStream());
          return { ...rest, stream: watchStream(stream, { part: call.part, end }) };
        } catch (error) {
          end(error);
          throw error;
        }
      },
    },
  });
}

function openCall({ modelId, provider }: LanguageModelV4, { prompt }: LanguageModelV4CallOptions) {
  const labels = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": modelId,
  } as const;
  const measure = startTimer("gen_ai.client.operation.duration");
  const span = openSpan(`chat ${modelId}`, { kind: "client", attributes: labels });
  if (recordsContent()) span.set({ "gen_ai.input.messages": toContent(prompt) });
  let text = "";
  const toolCalls: unknown[] = [];
  let failure: string | undefined;
  let hasEnded = false;

  const fail = (error: unknown): void => {
    failure ??= errorType(error);
  };
  const answer = (content: unknown) => span.set({ "gen_ai.output.messages": toContent(content) });
  const finish = (reason: LanguageModelV4FinishReason, usage: LanguageModelV4Usage): void => {
    const { inputTokens, outputTokens } = usage;
    span.set({
      "gen_ai.response.finish_reasons": [reason.unified],
      "gen_ai.usage.input_tokens": inputTokens.total,
      "gen_ai.usage.output_tokens": outputTokens.total,
    });
    const tokens = (type: string, total = 0) =>
      record("gen_ai.client.token.usage", total, { ...labels, "gen_ai.token.type": type });
    tokens("input", inputTokens.total);
    tokens("output", outputTokens.total);
  };
  return {
    run: span.run,
    finish,
    answer,
    part(part: LanguageModelV4StreamPart): void {
      if (part.type === "error") fail(part.error);
      else if (part.type === "finish") finish(part.finishReason, part.usage);
      else if (!recordsContent()) return;
      else if (part.type === "text-delta") text += part.delta;
      else if (part.type === "tool-call")
        toolCalls.push({ name: part.toolName, input: part.input });
    },
    end(error?: unknown): void {
      if (hasEnded) return;
      hasEnded = true;
      if (error !== undefined) fail(error);
      if (text !== "" || toolCalls.length > 0) answer({ text, toolCalls });
      if (failure !== undefined) span.fail(failure);
      span.end();
      measure({ ...labels, ...(failure !== undefined && { "error.type": failure }) });
    },
  };
}
