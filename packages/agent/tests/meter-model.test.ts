/** The recorded usage of model calls, whatever the server reports. */
import { getEventListeners } from "node:events";
import type { Attributes } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { FairQueue } from "@platform/kit/fair-queue";
import { providers } from "@platform/kit/telemetry/providers";
import { generateText, streamText } from "ai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeOpenAI, startFakeOpenAI } from "../../../tests/support/fakes/openai.ts";
import { meterModel } from "../src/models/meter-model.ts";
import { shareModel } from "../src/models/share-model.ts";
import { modelsAt } from "./models-at.ts";

let server: FakeOpenAI;
beforeAll(async () => {
  server = await startFakeOpenAI();
});
afterAll(() => server.close());

const MODEL_PRICES = { "fake-model": { input: 2, output: 10 } };
/** Streams one answer and generates another, and returns the uses and the usages that callers see. */
const measure = async (modelId: string, claims: { model?: string; usage?: object }) => {
  server.script("claims", function* () {
    yield { claims };
    yield { text: "Twenty characters..." };
  });
  const meter = meterModel(modelsAt(server.url, MODEL_PRICES), modelId);
  const call = { model: meter.model, prompt: "[script:claims]" };
  const streamed = streamText(call);
  await streamed.consumeStream();
  const generated = await generateText(call);
  return { uses: await meter.uses(), usages: [await streamed.usage, generated.usage] };
};
const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };

test("the model that answered is named and priced, else the one that was asked for", async () => {
  const cost = {
    inputTokens: 100,
    cachedInputTokens: 0,
    outputTokens: 10,
    costUsd: 0.0003,
    estimated: false,
  };
  const known = { modelId: "fake-model", ...cost };
  expect((await measure("auto", { usage })).uses).toEqual([known, known]);
  const dated = { ...known, modelId: "fake-model-2026" };
  const claims = { usage, model: "fake-model-2026" };
  expect((await measure("fake-model", claims)).uses).toEqual([dated, dated]);
  for (const model of ["fake-small", "constructor", "__proto__"]) {
    const unpriced = { ...known, modelId: model, costUsd: null };
    expect((await measure("fake-small", { usage, model })).uses).toEqual([unpriced, unpriced]);
  }
  expect(await modelsAt(server.url, MODEL_PRICES).price("auto")).toMatchObject({ input: 2 });
  expect(await modelsAt(server.url).price("auto")).toBeNull();
});

test("its cost is counted under the model that was asked for", async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const meters = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
  providers().meter = meters.getMeter("test");
  await measure("fake-model", { usage, model: "named-by-the-answer" });
  await measure("fake-small", { usage });
  await meters.forceFlush();
  providers().meter = undefined;
  const counted = exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics)
    .flatMap(({ metrics }) => metrics)
    .filter(({ descriptor }) => descriptor.name === "agent_platform.model.cost")
    .flatMap(({ dataPoints }): { attributes: Attributes; value: unknown }[] => dataPoints)
    .map(({ attributes, value }) => [attributes["gen_ai.request.model"], value]);
  await meters.shutdown();
  expect(counted).toEqual([
    ["fake-model", 0.0006],
    ["fake-small", 0],
  ]);
});

test.each([
  ["negative", { prompt_tokens: -5, completion_tokens: 3 }],
  ["too large for any call", { prompt_tokens: 4, completion_tokens: 1e300 }],
  ["more than any model reads", { prompt_tokens: 1e15, completion_tokens: 1 }],
])("usage that is %s is estimated, and no consumer sees it", async (_, absurd) => {
  const { uses, usages } = await measure("fake-model", { usage: absurd });
  for (const use of uses) {
    expect(use).toMatchObject({ estimated: true });
    expect(use.inputTokens).toSatisfy((count: number) => count > 0 && count < 1_000);
    expect(use.outputTokens).toSatisfy((count: number) => count > 0 && count < 1_000);
  }
  expect(uses).toHaveLength(2);
  for (const seen of usages) expect([0, undefined]).toContain(seen.inputTokens);
});

test.each([
  ["OpenRouter", { ...usage, cost: 0.0042 }, 0.0042],
  ["OpenRouter for free", { ...usage, cost: 0 }, 0],
  [
    "OpenRouter with the account's own key",
    { ...usage, cost: 0.001, is_byok: true, cost_details: { upstream_inference_cost: 0.02 } },
    0.021,
  ],
  ["Perplexity", { ...usage, cost: { request_cost: 0.006, total_cost: 0.00617 } }, 0.00617],
  ["xAI", { ...usage, cost_in_usd_ticks: 37_756_000 }, 0.0037756],
  ["no vendor", { ...usage, cost: 1e9 }, 0.0003],
  ["a hostile server", { ...usage, cost: -1 }, 0.0003],
])("the cost that %s reports counts", async (_, report, costUsd) => {
  const { uses } = await measure("fake-model", { usage: report });
  for (const use of uses) expect(use.costUsd).toBeCloseTo(costUsd, 12);
  expect(uses).toHaveLength(2);
});

test("tokens that only the total counts are output", async () => {
  const { uses } = await measure("fake-model", { usage: { ...usage, total_tokens: 306 } });
  expect(uses).toMatchObject([{ outputTokens: 206 }, { outputTokens: 206 }]);
});

test("fractions of tokens are rounded", async () => {
  const { uses } = await measure("fake-model", { usage: { ...usage, prompt_tokens: 99.5 } });
  expect(uses).toMatchObject([{ inputTokens: 100 }, { inputTokens: 100 }]);
});

test("a call that has ended leaves no listener on the signal of its caller", async () => {
  const models = modelsAt(server.url);
  const queue = new FairQueue({ name: "test", slots: 1, waitersPerAccount: 1, maxWaitMs: 1_000 });
  const resolve = () => shareModel(queue, models.resolve("fake-model"), "an-account");
  const { model } = meterModel({ ...models, resolve }, "fake-model");
  const { signal } = new AbortController();
  const { stream } = await model.doStream({
    prompt: [{ role: "user", content: [{ type: "text", text: "[deltas:3]" }] }],
    abortSignal: signal,
  });
  for await (const _ of stream);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
