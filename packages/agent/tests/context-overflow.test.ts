/**
 * How servers say that a request does not fit into the context of its model. The wordings are from the documentation
 * of providers and from public reports.
 */
import { log } from "@platform/kit/log";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type FakeOpenAI,
  type ScriptPart,
  startFakeOpenAI,
} from "../../../tests/support/fakes/openai.ts";
import { callModel } from "../src/call-model.ts";
import { ContextWindows } from "../src/models/context-windows.ts";
import { ModelOutages } from "../src/models/model-outages.ts";
import { modelsAt } from "./models-at.ts";

let server: FakeOpenAI;
beforeAll(async () => {
  log().level = "silent";
  server = await startFakeOpenAI();
});
afterAll(() => server.close());

/** Calls a model with about so many tokens, and returns the failure. */
async function callWith(parts: ScriptPart[], tokens = 40_000, outages = new ModelOutages()) {
  server.script("overflow", () => parts);
  const models = modelsAt(server.url);
  const text = `${"song ".repeat((tokens * 4) / 5)}[script:overflow]`;
  const turn = {
    ...{ headless: true, subagent: {}, options: {}, context: {}, steering: [] },
    history: [{ id: "m", role: "user", parts: [{ type: "text", text }] }],
    assistant_message_id: "a",
  };
  const answer = await callModel({
    turn: turn as never,
    canReachWeb: false,
    ...{ steps: [], results: [], turnId: "t", modelIds: ["fake-model"], outages },
    open: models.resolve,
    signal: new AbortController().signal,
    write: () => {},
  });
  return "error" in answer ? answer : { exceeded: undefined, error: undefined };
}

const http = (fail: number, message: string): ScriptPart[] => [{ fail, message }];
const event = (error: object): ScriptPart[] => [{ text: "" }, { raw: JSON.stringify({ error }) }];

describe("a request that does not fit is recognized", () => {
  test.each<[string, ScriptPart[], number | null]>([
    [
      "OpenAI",
      http(
        400,
        "This model's maximum context length is 32768 tokens. However, your messages resulted in 39000 tokens.",
      ),
      32_768,
    ],
    [
      "OpenAI Responses",
      http(
        400,
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
      ),
      null,
    ],
    [
      "OpenAI string",
      http(
        400,
        "Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760 (string_above_max_length)",
      ),
      null,
    ],
    ["Anthropic", http(400, "prompt is too long: 39123 tokens > 32768 maximum"), 32_768],
    [
      "Anthropic with output",
      http(
        400,
        "input length and `max_tokens` exceed context limit: 39759 + 8192 > 40000, decrease input length or `max_tokens` and try again",
      ),
      null,
    ],
    ["Anthropic's gateway", http(413, "request_too_large: Request exceeds the maximum size"), null],
    ["Bedrock", http(400, "Input is too long for requested model."), null],
    [
      "Bedrock, tokens",
      http(
        400,
        "The model returned the following errors: Too many input tokens. Max input tokens: 32768, request input token count: 39000",
      ),
      null,
    ],
    [
      "Gemini",
      http(
        400,
        "The input token count (39265) exceeds the maximum number of tokens allowed (32768).",
      ),
      32_768,
    ],
    [
      "xAI",
      http(
        400,
        "This model's maximum prompt length is 32768 but the request contains 39812 tokens.",
      ),
      32_768,
    ],
    ["Groq", http(400, "Please reduce the length of the messages or completion."), null],
    [
      "Mistral",
      http(
        400,
        "Prompt contains 39673 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
      ),
      32_768,
    ],
    [
      "DeepSeek",
      http(
        400,
        "This model's maximum context length is 32768 tokens. However, you requested 39648 tokens (39648 in the messages, 0 in the completion).",
      ),
      32_768,
    ],
    [
      "Moonshot",
      http(
        400,
        "Invalid request: Your request exceeded model token limit: 32768 (requested: 39012)",
      ),
      32_768,
    ],
    ["MiniMax", http(400, "invalid params, context window exceeds limit (2013)"), null],
    ["Z.ai 1261", http(400, "Prompt exceeds max length (1261)"), null],
    ["Z.ai 1210", http(400, "API 调用参数有误，请检查文档。"), null],
    [
      "DashScope",
      http(
        400,
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
      ),
      30_720,
    ],
    [
      "DashScope in an event",
      event({ code: "InvalidParameter", message: "Range of input length should be [1, 30720]" }),
      30_720,
    ],
    [
      "vLLM",
      http(
        400,
        "The decoder prompt (length 39001) is longer than the maximum model length of 32768. Make sure that `max_model_len` is no smaller.",
      ),
      32_768,
    ],
    [
      "vLLM as 500",
      http(
        500,
        "The decoder prompt (length 39001) is longer than the maximum model length of 32768.",
      ),
      32_768,
    ],
    [
      "vLLM, newer",
      http(
        400,
        "This model's maximum context length is 32768 tokens. However, you requested 1000 output tokens and your prompt contains at least 31769 input tokens, for a total of at least 32769 tokens. (parameter=input_tokens, value=31769)",
      ),
      32_768,
    ],
    [
      "SGLang",
      http(
        400,
        "The input (39001 tokens) is longer than the model's context length (32768 tokens).",
      ),
      32_768,
    ],
    [
      "TGI",
      http(
        422,
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 32768. Given: 39001 `inputs` tokens and 20 `max_new_tokens`",
      ),
      32_768,
    ],
    [
      "llama.cpp",
      http(400, "the request exceeds the available context size, try increasing it"),
      null,
    ],
    ["llama.cpp as 500", http(500, "Context size has been exceeded."), null],
    [
      "LM Studio",
      event({
        message:
          "Trying to keep the first 39001 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens",
      }),
      32_768,
    ],
    ["Ollama", http(400, "prompt too long; exceeded max context length by 812 tokens"), null],
    ["GitHub Copilot", http(400, "prompt token count of 39001 exceeds the limit of 32768"), 32_768],
    [
      "OpenRouter",
      http(
        400,
        "This endpoint's maximum context length is 32768 tokens. However, you requested about 39001 tokens (38001 of text input, 1000 in the output).",
      ),
      32_768,
    ],
    [
      "an event with a text code",
      event({ code: "context_length_exceeded", message: "Bad request" }),
      null,
    ],
    ["Cerebras without a text", http(400, ""), null],
    ["a 413 of a proxy", http(413, "Payload Too Large"), null],
    ["a 500 without words", http(500, "Internal error"), null],
    ["an event without words", event({ message: "upstream error" }), null],
    ["the end of an answer", [{ text: "Well" }, { finish: "model_context_window_exceeded" }], null],
  ])("%s", { timeout: 30_000 }, async (_, parts, window) => {
    const { exceeded } = await callWith(parts);
    expect(exceeded).toMatchObject({ modelId: "fake-model", window, answered: 0 });
  });
});

describe("a rejection is not taken for one of the size", () => {
  test.each([
    ["of an image", http(400, "Could not process image")],
    ["of a tool", http(400, "Invalid schema for function 'bash': None is not of type 'object'")],
    ["of a key", http(401, "Unauthorized")],
    ["of the rate", http(429, "Too many requests")],
  ])("%s", { timeout: 30_000 }, async (_, parts) => {
    expect(await callWith(parts)).toMatchObject({ error: expect.any(String) });
    expect((await callWith(parts)).exceeded).toBe(undefined);
  });

  test("of a small request", async () => {
    expect((await callWith(http(400, "Bad request"), 500)).exceeded).toBe(undefined);
  });

  test("that is smaller than one that was answered", async () => {
    const outages = new ModelOutages();
    await callWith([{ text: "Hello" }], 50_000, outages);
    expect((await callWith(http(400, "Bad request"), 40_000, outages)).exceeded).toBe(undefined);
    const { exceeded } = await callWith(http(400, "Bad request"), 60_000, outages);
    expect(exceeded).toMatchObject({ isSuspected: true, window: null });
    expect(exceeded?.answered).toBeGreaterThan(50_000);
  });

  test("that every request of the model gets", async () => {
    const outages = new ModelOutages();
    const isSuspected = async () =>
      (await callWith(http(400, "Bad request"), 40_000, outages)).exceeded !== undefined;
    expect([await isSuspected(), await isSuspected(), await isSuspected()]).toEqual([
      true,
      true,
      false,
    ]);
    await callWith([{ text: "Hello" }], 10_000, outages);
    expect(await isSuspected()).toBe(true);
  });
});

test("a window that is smaller than an answered request is not believed", async () => {
  const outages = new ModelOutages();
  await callWith([{ text: "Hello" }], 50_000, outages);
  const said = "This model's maximum context length is 32768 tokens.";
  const { exceeded } = await callWith(http(400, said), 60_000, outages);
  expect(exceeded).toMatchObject({ isSuspected: false, window: null });
});

test("a learned window is forgotten after a day", async () => {
  let now = 0;
  const models = { list: async () => null } as never;
  const windows = new ContextWindows(models, 128_000, () => now);
  windows.learn("a", "m", 32_000);
  expect(await windows.of("a", ["m"])).toBe(32_000);
  expect(await windows.of("b", ["m"])).toBe(128_000);
  now = 24 * 60 * 60_000;
  expect(await windows.of("a", ["m"])).toBe(128_000);
});
