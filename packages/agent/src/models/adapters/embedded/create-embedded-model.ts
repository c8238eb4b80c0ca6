/**
 * The embedded model: a table of rules instead of AI, behind a complete implementation of the AI
 * SDK's model interface. Its answer follows from the prompt alone: the newest user text is a plan,
 * and the tool calls after it are the steps that are done. Only the ids of tool calls are random.
 */
import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import type { ModelProvider } from "../../port.ts";
import { decideReply, type Reply } from "./decide-reply.ts";
import { EMBEDDED_MODEL_ID, EMBEDDED_PROVIDER } from "./identity.ts";

/** Parts that are sent before the event loop gets to other requests. */
const PARTS_PER_BATCH = 64;

export function createEmbeddedModel(): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: EMBEDDED_PROVIDER,
    modelId: EMBEDDED_MODEL_ID,
    supportedUrls: {},
    doGenerate: async (options) => generate(options),
    doStream: async (options) => ({ stream: toStream(options) }),
  };
}

function generate(options: LanguageModelV4CallOptions) {
  options.abortSignal?.throwIfAborted();
  const reply = decideReply(options.prompt, toolNames(options));
  const text = [...reply.text].join("");
  const calls = reply.calls.map((call) => ({
    type: "tool-call" as const,
    toolCallId: newCallId(),
    toolName: call.tool,
    input: JSON.stringify(call.input),
  }));
  const content: LanguageModelV4Content[] =
    text === "" ? calls : [{ type: "text", text }, ...calls];
  const written = text.length + calls.reduce((sum, call) => sum + call.input.length, 0);
  return { content, finishReason: finishOf(reply), usage: usageOf(options, written), warnings: [] };
}

function toStream(options: LanguageModelV4CallOptions): ReadableStream<LanguageModelV4StreamPart> {
  const parts = streamParts(options);
  let sent = 0;
  return new ReadableStream<LanguageModelV4StreamPart>({
    async pull(controller) {
      if (++sent % PARTS_PER_BATCH === 0) await setImmediate();
      if (options.abortSignal?.aborted) {
        controller.error(options.abortSignal.reason);
        return;
      }
      const next = parts.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
  });
}

function* streamParts(options: LanguageModelV4CallOptions): Generator<LanguageModelV4StreamPart> {
  yield { type: "stream-start", warnings: [] };
  yield { type: "response-metadata", modelId: EMBEDDED_MODEL_ID };
  const reply = decideReply(options.prompt, toolNames(options));
  let written = 0;
  const textId = "0";
  for (const delta of reply.text) {
    if (written === 0) yield { type: "text-start", id: textId };
    written += delta.length;
    yield { type: "text-delta", id: textId, delta };
  }
  if (written > 0) yield { type: "text-end", id: textId };
  for (const call of reply.calls) {
    const toolCallId = newCallId();
    const input = JSON.stringify(call.input);
    written += input.length;
    yield { type: "tool-input-start", id: toolCallId, toolName: call.tool };
    yield { type: "tool-input-delta", id: toolCallId, delta: input };
    yield { type: "tool-input-end", id: toolCallId };
    yield { type: "tool-call", toolCallId, toolName: call.tool, input };
  }
  yield { type: "finish", finishReason: finishOf(reply), usage: usageOf(options, written) };
}

const newCallId = (): string => `call_${randomUUID().replaceAll("-", "")}`;

const toolNames = (options: LanguageModelV4CallOptions): ReadonlySet<string> =>
  new Set((options.tools ?? []).map((tool) => tool.name));

const finishOf = (reply: Reply): LanguageModelV4FinishReason =>
  reply.calls.length > 0
    ? { unified: "tool-calls", raw: "tool_calls" }
    : { unified: "stop", raw: "stop" };

/** The facts before a message, as JSON has them. */
const FACTS = /\[Facts from the platform, not from the user\] .*?\\n\\n/g;

/** Estimates four characters a token, because the embedded model has no tokenizer. */
function usageOf(options: LanguageModelV4CallOptions, written: number): LanguageModelV4Usage {
  // Without the facts, whose date has another length each day: a prompt has the same size whenever it is sent.
  const prompt = JSON.stringify(options.prompt).replace(FACTS, "");
  const input = Math.ceil(prompt.length / 4);
  const output = Math.ceil(written / 4);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}

/** Provides the rule-based model, under any id. */
export function createEmbeddedModels(): ModelProvider {
  const list = [
    {
      id: EMBEDDED_MODEL_ID,
      name: "Embedded rules (not an AI)",
      provider: "embedded",
      contextWindow: null,
      inputs: [],
    },
  ];
  return {
    name: "embedded",
    defaultModelId: EMBEDDED_MODEL_ID,
    resolve: () => createEmbeddedModel(),
    list: async () => list,
    price: async () => ({ input: 0, output: 0 }),
  };
}
