/**
 * The model providers: their catalogs, and how their responses are parsed.
 * This file is long because one server of models serves all of its tests.
 */
import { createGatewayModels } from "@platform/agent/models/gateway";
import { generateText, isStepCount, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createModels } from "@/lib/app.ts";
import { acceptsInput, isKnownModel } from "@/lib/models/list-models.ts";
import { parseConfig } from "@/lib/platform/config.ts";
import { startFakeGateway } from "../../support/fakes/ai-gateway.ts";
import { deltas, type FakeOpenAI, startFakeOpenAI } from "../../support/fakes/openai.ts";

let server: FakeOpenAI;
beforeAll(async () => {
  server = await startFakeOpenAI();
});
afterAll(() => server.close());

const settings = (more: Record<string, string> = {}) =>
  parseConfig({
    SUPABASE_URL: "http://localhost",
    SUPABASE_SECRET_KEY: "x",
    DATABASE_URL: "postgresql://localhost",
    API_KEY_SECRET: "x".repeat(32),
    ...more,
  });
const withServer = (more: Record<string, string> = {}) =>
  settings({ OPENAI_BASE_URL: server.url, ...more });

const bash = tool({
  description: "Run a command",
  inputSchema: z.object({ command: z.string() }),
  execute: ({ command }) => ({ exitCode: 0, stdout: `${command}!`, stderr: "", truncated: false }),
});

/** The requirements of every adapter, in each vendor's wire format. */
const adapters = [
  {
    name: "embedded rules",
    open: async () => (await createModels(settings())).resolve("embedded/rules"),
    long: "count to 200",
    longer: "count to 10000",
    command: "run `echo hi`",
  },
  {
    name: "OpenAI-compatible server",
    open: async () => (await createModels(withServer())).resolve("fake-model"),
    long: "[deltas:200]",
    longer: "[script:endless]",
    command: "[tools:1]",
  },
];

describe.each(adapters)("$name", ({ open, long, longer, command }) => {
  beforeAll(() => {
    server.script("endless", async function* ({ abandoned }) {
      yield* deltas(50);
      await abandoned;
    });
  });

  test("streams text in pieces, with usage and a reason to end", async () => {
    const result = streamText({ model: await open(), prompt: long });
    const pieces: string[] = [];
    for await (const piece of result.textStream) pieces.push(piece);
    expect(pieces.length).toBeGreaterThanOrEqual(200);
    expect(pieces.join("")).toBe(await result.text);
    expect(await result.finishReason).toBe("stop");
    const usage = await result.usage;
    expect(usage.inputTokens).toBeGreaterThan(0);
    expect(usage.outputTokens).toBeGreaterThan(0);
    expect(usage.totalTokens).toBe((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0));
  });

  test("gives the same text without a stream", async () => {
    const streamed = streamText({ model: await open(), prompt: long });
    const { text } = await generateText({ model: await open(), prompt: long });
    expect(text).toBe(await streamed.text);
  });

  test("calls a tool, sees its result and then answers", async () => {
    const result = streamText({
      model: await open(),
      prompt: command,
      tools: { bash },
      stopWhen: isStepCount(5),
    });
    await result.consumeStream();
    const steps = await result.steps;
    expect(steps).toHaveLength(2);
    expect(steps[0]?.finishReason).toBe("tool-calls");
    expect(steps[0]?.toolCalls).toHaveLength(1);
    expect(steps[0]?.toolCalls[0]).toMatchObject({ toolName: "bash" });
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({ exitCode: 0 });
    expect(steps[1]?.finishReason).toBe("stop");
    expect(await result.text).not.toBe("");
  });

  test("ends at once when it is aborted in the middle of its text", async () => {
    const controller = new AbortController();
    const result = streamText({
      model: await open(),
      prompt: longer,
      abortSignal: controller.signal,
    });
    const types: string[] = [];
    for await (const part of result.stream) {
      types.push(part.type);
      if (types.filter((type) => type === "text-delta").length === 10) controller.abort();
    }
    expect(types.at(-1)).toBe("abort");
    expect(types.filter((type) => type === "text-delta").length).toBeLessThan(5_000);
  });
});

describe("which models there are", () => {
  test("the embedded one where nothing is configured", async () => {
    expect(await (await createModels(settings())).list()).toEqual([
      {
        id: "embedded/rules",
        name: "Embedded rules (not an AI)",
        provider: "embedded",
        contextWindow: null,
        inputs: [],
      },
    ]);
    expect(await isKnownModel(await createModels(settings()), "embedded/rules")).toBe(true);
    expect(await isKnownModel(await createModels(settings()), "gpt")).toBe(false);
  });

  test("those that the server lists; its first one answers where none is chosen", async () => {
    const models = await (await createModels(withServer())).list();
    expect(models?.slice(0, 3).map((model) => model.id)).toEqual([
      "auto",
      "fake-model",
      "fake-small",
    ]);
    const result = streamText({
      model: (await createModels(withServer())).resolve("auto"),
      prompt: "[script:who]",
    });
    await result.consumeStream();
    expect(server.callsOf("who").map((call) => call.model)).toEqual(["fake-model"]);
  });

  test("how many tokens each takes, where the server lists it", async () => {
    const models = await (await createModels(withServer())).list();
    const windows = models?.slice(0, 3).map((model) => model.contextWindow);
    expect(windows).toEqual([128_000, 128_000, null]);
    const chosen = await (await createModels(withServer({ MODELS: "fake-model" }))).list();
    expect(chosen).toMatchObject([{ id: "fake-model", contextWindow: 128_000 }]);
  });

  test("which of them read PDFs, where the server lists it", async () => {
    const models = await createModels(withServer({ MODELS: "fake-pdf, fake-small, unknown" }));
    expect(await acceptsInput(models, ["fake-pdf"], "pdf")).toBe(true);
    for (const other of ["fake-small", "unknown", "nope"]) {
      expect(await acceptsInput(models, ["fake-pdf", other], "pdf")).toBe(false);
    }
    expect(await acceptsInput(models, ["fake-pdf"], "image")).toBe(false);
  });

  test("those of the AI Gateway, with context windows and prices", async () => {
    const gateway = await startFakeGateway();
    const models = createGatewayModels({ apiKey: gateway.key, origin: gateway.origin });
    expect(await models.list()).toEqual([
      {
        ...{ id: "label/large", name: "Large", provider: "gateway", contextWindow: 200_000 },
        inputs: ["image", "pdf"],
      },
      {
        ...{ id: "label/small", name: "Small", provider: "gateway", contextWindow: null },
        inputs: [],
      },
    ]);
    expect(await models.price("label/large")).toEqual({ input: 3, output: 15 });
    expect(await models.price("label/small")).toBeNull();
    await gateway.close();
  });

  test.each([
    [["4.5", "4.10", "5", "4.6", "next"], "5"],
    [["4.9", "4.10", "4.6"], "4.10"],
  ])(
    "the newest of a family is the default, whatever else is listed: %j",
    async (listed, newest) => {
      const family = listed.map((one) => `anthropic/claude-sonnet-${one}`);
      const gateway = await startFakeGateway(["anthropic/claude-opus-9", ...family]);
      const models = createGatewayModels({ apiKey: gateway.key, origin: gateway.origin });
      await models.list();
      expect(models.defaultModelId).toBe(`anthropic/claude-sonnet-${newest}`);
      await gateway.close();
      const unknown = createGatewayModels({ apiKey: gateway.key, origin: gateway.origin });
      await unknown.list();
      expect(unknown.defaultModelId).toBe("anthropic/claude-sonnet-4.5");
    },
  );

  test("those of MODELS and DEFAULT_MODEL alone where they are set", async () => {
    const chosen = withServer({ MODELS: "a, b", DEFAULT_MODEL: "c" });
    expect((await (await createModels(chosen)).list())?.map((model) => model.id)).toEqual([
      "a",
      "b",
      "c",
    ]);
    expect(await isKnownModel(await createModels(chosen), "fake-model")).toBe(false);
  });

  test("the key goes to the server", async () => {
    const model = (await createModels(withServer({ OPENAI_API_KEY: "sk-test" }))).resolve(
      "fake-model",
    );
    await streamText({ model, prompt: "[script:keyed]" }).consumeStream();
    expect(server.callsOf("keyed")[0]?.headers.authorization).toBe("Bearer sk-test");
  });

  test("a server that is away lists nothing and refuses no id", async () => {
    const gone = await startFakeOpenAI();
    await gone.close();
    const away = settings({ OPENAI_BASE_URL: gone.url });
    expect(await (await createModels(away)).list()).toBeNull();
    expect(await isKnownModel(await createModels(away), "any")).toBe(true);
  });
});

test("a signed tool call goes back in the provider's own form, also with a cache key", async () => {
  const call = { tool: "bash", input: { command: "echo 1" }, signature: "signature" };
  server.script("signed-call", ({ step }) => [step > 0 ? { text: "Done." } : call]);
  const models = await createModels(withServer({ PROMPT_CACHE_KEY: "true" }));
  const providerOptions = models.cacheOptions?.("chat-1") ?? {};
  const given = { model: models.resolve("fake-model"), tools: { bash }, providerOptions };
  await streamText({ ...given, prompt: "[script:signed-call]", stopWhen: isStepCount(2) }).steps;
  const [, last] = server.callsOf("signed-call");
  expect(last?.cacheKey).toBe("chat-1");
  const sent = JSON.stringify(last?.messages);
  expect(sent).toContain('{"google":{"thought_signature":"signature"}}');
  expect(sent).not.toContain("thoughtSignature");
});
