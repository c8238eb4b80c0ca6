/**
 * Answers as vendors send them, byte by byte and at once, and how they are parsed. The streams in
 * `tests/vendors/streams` have the shapes of recorded ones, in our own words.
 */

import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOpenAiCompatibleModels } from "../src/models/adapters/openai-compatible.ts";

const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hello" }] }];

let server: Server;
/** The server's answer, in the pieces in which it sends it. */
let pieces: readonly Uint8Array[] = [];
beforeAll(async () => {
  server = createServer(async (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of pieces) response.write(piece);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => void server.close());

const open = () => {
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  return createOpenAiCompatibleModels({ baseUrl, apiKey: undefined, offersAuto: true });
};

interface Read {
  text?: string;
  reasoning?: string;
  calls?: [name: string, input: string][];
  sources?: [url: string, title?: string][];
  /** Input, cached input and output tokens. */
  tokens?: (number | undefined)[];
  cost?: unknown;
  finish?: string;
  error?: unknown;
  field?: unknown;
}

async function read(sent: readonly Uint8Array[]): Promise<Read> {
  pieces = sent;
  const { stream } = await open().resolve("model").doStream({ prompt });
  const answer: Read = {};
  for await (const part of stream) {
    if (part.type === "text-delta") answer.text = (answer.text ?? "") + part.delta;
    if (part.type === "reasoning-delta") answer.reasoning = (answer.reasoning ?? "") + part.delta;
    if (part.type === "reasoning-start" && part.providerMetadata)
      answer.field = part.providerMetadata.openaiCompatible?.reasoningField;
    if ("delta" in part) expect(part.delta.isWellFormed()).toBe(true);
    if (part.type === "tool-call")
      answer.calls = [...(answer.calls ?? []), [part.toolName, part.input]];
    if (part.type === "source" && part.sourceType === "url")
      answer.sources = [
        ...(answer.sources ?? []),
        part.title ? [part.url, part.title] : [part.url],
      ];
    if (part.type === "error") answer.error ??= (part.error as { message?: unknown }).message;
    if (part.type !== "finish") continue;
    answer.finish = part.finishReason.unified;
    const { inputTokens, outputTokens, raw } = part.usage;
    if (inputTokens.total !== undefined)
      answer.tokens = [inputTokens.total, inputTokens.cacheRead, outputTokens.total];
    if (raw?.cost !== undefined) answer.cost = raw.cost;
  }
  return answer;
}

const bash = (input: string): [string, string] => ["bash", input];

const answers: Readonly<Record<string, Read>> = {
  openrouter: {
    ...{ reasoning: "Two tours", field: "reasoning", text: "They toured in May." },
    ...{ sources: [["https://venue.example/may", "Dates in May"]], finish: "stop" },
    ...{ tokens: [194, 64, 22], cost: 0.00095 },
  },
  "openrouter-byok": { text: "Yes.", finish: "stop", tokens: [10, 0, 2], cost: 0.01 },
  "openrouter-error": { text: "The", finish: "error", error: "Provider disconnected" },
  groq: {
    ...{ reasoning: "Look it up", field: "reasoning", calls: [bash('{"command":"ls"}')] },
    ...{ finish: "tool-calls", tokens: [180, 0, 43] },
  },
  mistral: {
    ...{ reasoning: "Count them", field: "content", text: "There are two." },
    ...{ finish: "stop", tokens: [20, 0, 11] },
  },
  "mistral-tools": {
    calls: [bash('{"command": "ls"}')],
    finish: "tool-calls",
    tokens: [80, 0, 12],
  },
  deepseek: { reasoning: "Add up", text: "4", finish: "stop", tokens: [18, 16, 20] },
  xai: {
    ...{ reasoning: "Thinking... ", text: "A single in June.", finish: "stop" },
    ...{ sources: [["https://x.example/1"], ["https://x.example/2"]] },
    ...{ tokens: [30, 4, 222], cost: 0.0037756 },
  },
  perplexity: {
    text: "Number one [1].",
    sources: [
      ["https://charts.example/", "Charts"],
      ["https://label.example/news", "Label news"],
    ],
    ...{ finish: "stop", tokens: [8, 0, 3], cost: 0.006069 },
  },
  gemini: {
    ...{ reasoning: "**Plan** list", field: "tags", text: "One moment." },
    calls: [bash('{"command":"ls"}'), bash('{"command":"pwd"}')],
    ...{ finish: "tool-calls", tokens: [60, 0, 80] },
  },
  vllm: {
    ...{ reasoning: "Okay.\n", field: "tags", text: "Hello!", finish: "stop", tokens: [9, 0, 9] },
  },
  "vllm-error": { finish: "error", error: "EngineCore encountered an issue" },
  "llama-cpp": { reasoning: "Okay", text: "Hi there", finish: "stop", tokens: [17, 13, 6] },
  ollama: {
    ...{ reasoning: "Okay", field: "reasoning", calls: [bash('{"command":"ls -a"}')] },
    ...{ finish: "tool-calls", tokens: [22, 0, 14] },
  },
  "lm-studio": { reasoning: "I add. ", field: "tags", text: "It is <b>4</b>.", finish: "stop" },
  "lm-studio-error": {
    ...{ text: "It", finish: "error" },
    error: "The model has crashed without additional information",
  },
  tgi: { text: "Deep house", finish: "stop", tokens: [31, 0, 3] },
  "tgi-tools": { calls: [bash('{"command":"ls"}')], finish: "tool-calls" },
  together: {
    ...{ reasoning: "Six\n", field: "tags", text: "Six songs." },
    ...{ finish: "stop", tokens: [12, 0, 7] },
  },
  fireworks: { text: "A 🎸", finish: "stop", tokens: [17, 0, 3] },
  cerebras: {
    ...{ reasoning: "Short", field: "reasoning", text: "Hello", finish: "stop" },
    tokens: [69, 32, 45],
  },
  dashscope: {
    ...{ text: "我是通义", sources: [["https://tongyi.example/", "官网"]], finish: "stop" },
    tokens: [22, 0, 4],
  },
  "dashscope-error": { finish: "error", error: "Range of input length should be [1, 129024]" },
  moonshot: { reasoning: "Hm", text: "Yes", finish: "stop", tokens: [19, 10, 5] },
  "minimax-error": { finish: "error", error: "insufficient balance" },
  whole: {
    ...{ reasoning: "I think first.\n", field: "tags", text: "Done." },
    calls: [bash('{"command":"echo","id":"12345678901234567890"}')],
    ...{ finish: "tool-calls", tokens: [21, 0, 4] },
  },
  lines: { text: "One two", finish: "stop" },
  odd: {
    ...{ reasoning: "Ah 🤔", field: "reasoning", text: "Guitar 🎸 and �!" },
    ...{ finish: "stop", tokens: [12, 0, 3] },
  },
};

describe.each(Object.entries(answers))("%s", (name, answer) => {
  const bytes = readFileSync(`tests/vendors/streams/${name}.txt`);
  test("is read at once", async () => {
    expect(await read([bytes])).toEqual(answer);
  });
  test("is read in pieces of 7 bytes", async () => {
    const cut = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, place) =>
      bytes.subarray(place * 7, place * 7 + 7),
    );
    expect(await read(cut)).toEqual(answer);
  });
});

/** The events of a stream of these deltas, without an end. */
const eventsOf = (...deltas: object[]) =>
  deltas.map((delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`).join("");
const readText = (text: string) => read([Buffer.from(text)]);

test("an answer without a reason to end is complete only if the stream says that it is", async () => {
  const events = eventsOf({ content: "Half" });
  expect(await readText(events)).toMatchObject({ text: "Half", finish: "error" });
  expect(await readText(`${events}data: [DONE]`)).toEqual({ text: "Half", finish: "stop" });
  expect(await readText("data: [DONE]\n\n")).toMatchObject({ finish: "error" });
  // Broken off within an event.
  const broken = await readText(`${events}data: {"choices":[{"delta":{"con`);
  expect(broken).toMatchObject({ text: "Half", finish: "error" });
});

test("tags are reasoning only at the start of an answer", async () => {
  const done = "data: [DONE]\n\n";
  const texts = async (...contents: string[]) => {
    const { text, reasoning } = await readText(
      eventsOf(...contents.map((content) => ({ content }))) + done,
    );
    return [reasoning, text];
  };
  expect(await texts("Use `<think>` ", "and </think>.")).toEqual([
    undefined,
    "Use `<think>` and </think>.",
  ]);
  expect(await texts("<thi", "s> is text")).toEqual([undefined, "<this> is text"]);
  expect(await texts("<thi")).toEqual([undefined, "<thi"]);
  expect(await texts("\n", " <think>a", "<", "/b</", "think> c</think>")).toEqual([
    "a</b",
    "c</think>",
  ]);
  // Without any reasoning, and cut by its limit.
  expect(await texts("<think>\n\n</think>\n\n", "Hi")).toEqual([undefined, "Hi"]);
  expect(await texts("<think>So", " far</th")).toEqual(["So far</th", undefined]);
  // The server has taken the reasoning out, and left its end.
  expect(await texts("</think>", "\n\nHi")).toEqual([undefined, "Hi"]);
  expect(await texts("[THINK]a[/THINK]b")).toEqual(["a", "b"]);
  expect(await texts("◁think▷a◁/think▷b")).toEqual(["a", "b"]);
});

test("a whole answer is read alike, so that a title has no reasoning", async () => {
  const message = { role: "model", content: "<think>Short</think>\n\nTwo tours", refusal: null };
  pieces = [Buffer.from(JSON.stringify({ id: 1, choices: [{ message, finish_reason: "eos" }] }))];
  const { content, finishReason } = await open().resolve("model").doGenerate({ prompt });
  expect(content).toEqual([
    { type: "reasoning", text: "Short" },
    { type: "text", text: "Two tours" },
  ]);
  expect(finishReason.unified).toBe("stop");
});

test("text between tags is not sent again", async () => {
  const bodies: string[] = [];
  const watch = createServer(async (request, response) => {
    for await (const chunk of request.setEncoding("utf8")) bodies.push(chunk);
    response.end(`${eventsOf({ content: "Yes" })}data: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => watch.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(watch.address() as AddressInfo).port}/v1`;
  const models = createOpenAiCompatibleModels({ baseUrl, apiKey: undefined, offersAuto: true });
  const thought = (text: string, reasoningField: string) => ({
    ...{ type: "reasoning" as const, text },
    providerOptions: { openaiCompatible: { reasoningField } },
  });
  const content = [thought("tagged", "tags"), { type: "text" as const, text: "4" }];
  const { stream } = await models.resolve("model").doStream({
    prompt: [...prompt, { role: "assistant", content }, ...prompt],
  });
  for await (const _ of stream);
  watch.close();
  expect(bodies.join("")).not.toContain("tagged");
});

test("a reason to end is one of OpenAI's", async () => {
  const finishOf = async (reason: unknown) => {
    const choice = { index: 0, delta: { content: "a" }, finish_reason: reason };
    return (await readText(`data: ${JSON.stringify({ choices: [choice] })}\n\n`)).finish;
  };
  for (const reason of ["STOP", "end_turn", "eos_token", "stop_sequence", "COMPLETE"])
    expect(await finishOf(reason)).toBe("stop");
  expect(await finishOf("MAX_TOKENS")).toBe("length");
  expect(await finishOf("sensitive")).toBe("content-filter");
  expect(await finishOf("model_context_window_exceeded")).toBe("other");
  for (const reason of ["", "null", null, {}]) expect(await finishOf(reason)).toBe("error");
});

test("hostile fields neither fail nor fill an answer", async () => {
  const citations = [
    ...["javascript:alert(1)", "https://", 7, null, {}, { url: [] }, "https://a.example/?\ud800"],
    ...Array.from({ length: 500 }, (_, n) => `https://many.example/${n}`),
    `https://long.example/${"x".repeat(3_000)}`,
  ];
  const chunk = {
    ...{ id: {}, created: 1e300, model: [], error: "", citations },
    choices: [
      {
        delta: {
          ...{ role: 7, content: [["a"], { text: {} }, 5, null], refusal: false },
          tool_calls: [
            null,
            5,
            { index: "x", id: {}, function: { name: "bash", arguments: null } },
          ],
        },
        finish_reason: "stop",
      },
    ],
    usage: { prompt_tokens: [], completion_tokens: "many", cost: "free", total_tokens: {} },
  };
  const answer = await readText(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  expect(answer).toMatchObject({ text: "a5", calls: [["bash", ""]], finish: "tool-calls" });
  expect(answer.tokens).toBeUndefined();
  expect(answer.sources?.length).toBeLessThanOrEqual(100);
  for (const [url] of answer.sources ?? []) expect(url).toMatch(/^https:/);
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const nested = `data: {"choices":[{"delta":{"content":${deep}}}]}\n\ndata: [DONE]\n\n`;
  expect(["stop", "error"]).toContain(
    (await readText(nested).catch(() => ({ finish: "error" }))).finish,
  );
});
