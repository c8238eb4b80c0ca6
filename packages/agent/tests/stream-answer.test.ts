/**
 * The same answers through our model loop and through the AI SDK's `streamText`: chunks and messages are equal.
 * This file is long because it generates every part that a model can stream.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { APICallError, type ModelMessage, streamText, type ToolSet, type UIMessageChunk } from "ai";
import { convertArrayToReadableStream, MockLanguageModelV4 } from "ai/test";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import {
  deltas,
  type FakeOpenAI,
  type Script,
  startFakeOpenAI,
} from "../../../tests/support/fakes/openai.ts";
import { PIXEL_PNG } from "../../../tests/support/fixtures/pixel.ts";
import { streamAnswer } from "../src/stream-answer.ts";
import { toolSchemas } from "../src/tools/index.ts";
import { modelsAt } from "./models-at.ts";

const instructions = "You are an agent.";
const tools = toolSchemas({ headless: false });
const messages: ModelMessage[] = [
  {
    role: "user",
    content: [
      { type: "text", text: "Look" },
      { type: "file", data: PIXEL_PNG, mediaType: "image/png" },
    ],
  },
];

interface Seen {
  readonly chunks: UIMessageChunk[];
  /** Null for an answer that failed. */
  readonly answer: object | null;
}

async function ours(model: LanguageModelV4, prompt = messages): Promise<Seen> {
  const chunks: UIMessageChunk[] = [];
  const answer = await streamAnswer({
    ...{ model, instructions, messages: prompt, tools },
    signal: new AbortController().signal,
    write: (chunk) => chunks.push(chunk),
  });
  if ("failure" in answer) return { chunks, answer: null };
  const { finishReason, usage, calls } = answer;
  return { chunks, answer: { messages: answer.messages, finishReason, usage, calls: [...calls] } };
}

/** The parts that `streamText` returns. Its chunks for the steps and for errors are the turn's own. */
async function theirs(model: LanguageModelV4, prompt = messages): Promise<Seen> {
  let hasFailed = false;
  const onError = () => {
    hasFailed = true;
  };
  const result = streamText({
    ...{ model, instructions, messages: prompt, onError },
    // Its types do not allow for tools that are only known at run time.
    tools: tools as ToolSet,
  });
  const chunks: UIMessageChunk[] = [];
  const stream = result.toUIMessageStream({
    ...{ sendStart: false, sendFinish: false, sendSources: true },
    onError: () => "The input is not valid for this tool",
  });
  try {
    for await (const chunk of stream) chunks.push(chunk);
  } catch {
    hasFailed = true;
  }
  const own = ["start-step", "finish-step", "error", "abort"];
  const content = chunks.filter(({ type }) => !own.includes(type));
  const read = async () => {
    const [response, finishReason, usage, calls] = await Promise.all([
      ...[result.response, result.finishReason, result.usage, result.toolCalls],
    ] as const);
    return { messages: response.messages, finishReason, usage, calls };
  };
  const answer = await read().catch(() => null);
  return { chunks: content, answer: hasFailed || answer?.finishReason === "error" ? null : answer };
}

/** Each of both calls gets a stream with the same parts. */
const modelOf = (parts: readonly LanguageModelV4StreamPart[], breaks = false) =>
  new MockLanguageModelV4({
    doStream: async () => ({ stream: breaks ? brokenAfter(parts) : streamOf(parts) }),
  });

const streamOf = (parts: readonly LanguageModelV4StreamPart[]) =>
  convertArrayToReadableStream(structuredClone([...parts]));

function brokenAfter(parts: readonly LanguageModelV4StreamPart[]) {
  const left = structuredClone([...parts]);
  return new ReadableStream<LanguageModelV4StreamPart>({
    pull(controller) {
      const part = left.shift();
      if (part) controller.enqueue(part);
      else controller.error(new TypeError("terminated"));
    },
  });
}

/** As they are stored, with the ids that were made up in place of ones used twice numbered. */
function comparable(seen: Seen): unknown {
  const made = new Map<string, string>();
  const text = JSON.stringify(seen);
  return JSON.parse(
    text.replaceAll(/"id":"((?:aitxt-)?\w{16,})"/g, (_, id: string) => {
      if (!made.has(id)) made.set(id, `made-${made.size}`);
      return `"id":"${made.get(id)}"`;
    }),
  );
}

const metadata = fc.option(fc.record({ vendor: fc.record({ signature: fc.string() }) }), {
  nil: undefined,
});
const id = fc.constantFrom("0", "1", "2");
const callId = fc.constantFrom("call-1", "call-2", "call-3");
const toolName = fc.constantFrom("bash", "read", "ask_user_question", "unknown", "constructor");
const input = fc.oneof(
  fc.constantFrom('{"command":"ls"}', '{"file_path":"a"}', "{}", "", "{", "[1]", '{"command":1}'),
  fc.json(),
);
const delta = fc.oneof(fc.constant(""), fc.string(), fc.string({ unit: "grapheme" }));
const kinds = [
  ...(["text", "reasoning"] as const).flatMap((kind) => [
    fc.record({ type: fc.constant(`${kind}-start` as const), id, providerMetadata: metadata }),
    fc.record({
      type: fc.constant(`${kind}-delta` as const),
      id,
      delta,
      providerMetadata: metadata,
    }),
    fc.record({ type: fc.constant(`${kind}-end` as const), id, providerMetadata: metadata }),
  ]),
  fc.record({ type: fc.constant("tool-input-start" as const), id: callId, toolName }),
  fc.record({ type: fc.constant("tool-input-delta" as const), id: callId, delta }),
  fc.record({ type: fc.constant("tool-input-end" as const), id: callId }),
  fc.record({
    type: fc.constant("tool-call" as const),
    ...{ toolCallId: callId, toolName, input, providerMetadata: metadata },
    providerExecuted: fc.constantFrom(undefined, false, true),
    dynamic: fc.constantFrom(undefined, true),
  }),
  fc.record({
    type: fc.constant("tool-result" as const),
    ...{ toolCallId: callId, toolName, providerMetadata: metadata },
    result: fc.jsonValue().map((value) => value ?? "nothing"),
    isError: fc.boolean(),
    dynamic: fc.constantFrom(undefined, true),
  }),
  fc.record({
    type: fc.constantFrom("file" as const, "reasoning-file" as const),
    mediaType: fc.constant("image/png"),
    data: fc.constant({ type: "data" as const, data: PIXEL_PNG }),
    providerMetadata: metadata,
  }),
  fc.record({
    type: fc.constant("source" as const),
    ...{ sourceType: fc.constant("url" as const), id, url: fc.webUrl(), title: fc.string() },
  }),
  fc.record({ type: fc.constant("raw" as const), rawValue: fc.anything({ maxDepth: 1 }) }),
  fc.record({ type: fc.constant("response-metadata" as const), modelId: fc.string() }),
  fc.record({
    type: fc.constant("error" as const),
    error: fc.constantFrom<unknown>("overloaded", { message: "no", status: 429 }, null, 0),
  }),
  fc.record({
    type: fc.constant("tool-approval-request" as const),
    ...{ approvalId: fc.constant("approval"), toolCallId: callId },
  }),
] as const;
const finish = fc.record({
  type: fc.constant("finish" as const),
  finishReason: fc.record({
    unified: fc.constantFrom(
      ...(["stop", "length", "tool-calls", "content-filter", "error", "other"] as const),
    ),
    raw: fc.constantFrom(undefined, "raw"),
  }),
  usage: fc.record({
    inputTokens: fc.record({
      ...{ total: fc.nat(), noCache: fc.nat(), cacheRead: fc.nat() },
      cacheWrite: fc.constant(undefined),
    }),
    outputTokens: fc.record({ total: fc.nat(), text: fc.nat(), reasoning: fc.nat() }),
  }),
  providerMetadata: metadata,
});

const answer = fc
  .tuple(fc.array(fc.oneof(...kinds), { maxLength: 20 }), fc.option(finish), fc.boolean())
  .map(([parts, end, breaks]) => ({
    // The types of the alternatives are wider than the parts' types.
    parts: [...parts, ...(end ? [end] : [])] as LanguageModelV4StreamPart[],
    breaks,
  }));

describe("generated answers", () => {
  it("have the same chunks and messages", async () => {
    await fc.assert(
      fc.asyncProperty(answer, async ({ parts, breaks }) => {
        const [mine, reference] = [
          await ours(modelOf(parts, breaks)),
          await theirs(modelOf(parts, breaks)),
        ];
        expect(comparable(mine)).toEqual(comparable(reference));
      }),
      { numRuns: 400 },
    );
  });
});

describe("answers of an OpenAI-compatible server", () => {
  let server: FakeOpenAI;
  beforeAll(async () => {
    server = await startFakeOpenAI();
  });
  afterAll(() => server.close());

  const scripts: Record<string, Script> = {
    text: () => deltas(50),
    "reasoning and tools": function* () {
      yield { reasoning: "They want a list. " };
      yield { text: "I look." };
      yield { id: "call-1", tool: "bash", input: { command: "ls" }, pieces: 5 };
      yield { id: "call-2", tool: "read", input: { file_path: "a" } };
    },
    "calls that are not valid": function* () {
      yield { id: "call-3", tool: "bash", rawInput: '{"command":' };
      yield { id: "call-4", tool: "bash", input: { command: 1 } };
      yield { id: "call-5", tool: "nothing", input: {} };
    },
    length: function* () {
      yield { text: "The limit is" };
      yield { finish: "length" };
    },
    nothing: function* () {},
    "an error event": function* () {
      yield { text: "So far" };
      yield { fail: 429, message: "slow down" };
    },
    "a broken connection": function* () {
      yield { text: "So far" };
      yield { cut: true };
    },
    "an error status": function* () {
      yield { fail: 400, message: "no" };
    },
  };

  test.each(Object.entries(scripts))("%s", async (name, script) => {
    const id = name.replaceAll(" ", "-");
    server.script(id, script);
    const model = modelsAt(server.url).resolve("fake-model");
    const prompt: ModelMessage[] = [{ role: "user", content: `[script:${id}]` }];
    const mine = await ours(model, prompt);
    expect(comparable(mine)).toEqual(comparable(await theirs(model, prompt)));
    // The same request reached the server twice, or as often as it was repeated.
    const calls = server.calls.filter((call) => call.script === id);
    const asked = calls.map(({ messages, tools, model }) => ({ messages, tools, model }));
    expect(asked.length % 2).toBe(0);
    expect(new Set(asked.map((each) => JSON.stringify(each))).size).toBe(1);
  });
});

describe("a call", () => {
  const finished: LanguageModelV4StreamPart = {
    type: "finish",
    finishReason: { unified: "stop", raw: "stop" },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
  };

  it("is made with the same options", async () => {
    const asked: LanguageModelV4CallOptions[] = [];
    const model = new MockLanguageModelV4({
      doStream: async (options) => {
        asked.push(options);
        return { stream: streamOf([finished]) };
      },
    });
    await ours(model);
    await theirs(model);
    const [mine, reference] = asked.map(({ abortSignal: _, ...options }) => options);
    expect(JSON.stringify(mine)).toBe(JSON.stringify({ ...mine, ...reference }));
    expect(mine?.prompt).toEqual(reference?.prompt);
  });

  it("is repeated until its answer starts", async () => {
    const callsOf = async (call: typeof ours) => {
      let calls = 0;
      const model = new MockLanguageModelV4({
        doStream: async () => {
          calls += 1;
          if (calls < 3) throw overloaded;
          return { stream: streamOf([finished]) };
        },
      });
      return { seen: comparable(await call(model)), calls };
    };
    expect(await callsOf(ours)).toEqual(await callsOf(theirs));
  });

  it("ends at once when it is stopped, even if the model goes on", async () => {
    const stop = new AbortController();
    let cancelled = false;
    const model = new MockLanguageModelV4({
      doStream: async () => ({
        stream: new ReadableStream({
          start: (controller) => controller.enqueue({ type: "text-start", id: "0" }),
          cancel: () => {
            cancelled = true;
          },
        }),
      }),
    });
    const chunks: UIMessageChunk[] = [];
    const answer = await streamAnswer({
      ...{ model, instructions, messages, tools, signal: stop.signal },
      write: (chunk) => {
        chunks.push(chunk);
        stop.abort();
      },
    });
    expect(answer).toHaveProperty("failure");
    expect(chunks).toEqual([{ type: "text-start", id: "0" }]);
    expect(cancelled).toBe(true);
  });

  it("fails with what the writer of its chunks throws", async () => {
    const model = modelOf([{ type: "text-start", id: "0" }, finished]);
    const full = new Error("The log is full");
    const failing = streamAnswer({
      ...{ model, instructions, messages, tools, signal: new AbortController().signal },
      write: () => {
        throw full;
      },
    });
    await expect(failing).rejects.toBe(full);
  });
});

/** An error that says that the call can be repeated, at once. */
const overloaded = new APICallError({
  ...{ message: "overloaded", url: "http://localhost", requestBodyValues: {} },
  ...{ statusCode: 503, isRetryable: true, responseHeaders: { "retry-after-ms": "1" } },
});
