/** Turns of servers that send to a collector of the test. */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Script } from "../fakes/openai.ts";
import type { FakeCollector } from "../fakes/otel-collector.ts";
import type { Client } from "./clients.ts";
import { openConversation } from "./conversation.ts";

export const collectorKey = randomUUID();
/** The settings of a server that sends at once. */
export const observed = (collector: FakeCollector) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${collectorKey}`,
  TEST_CONSTANTS: JSON.stringify({ SPANS_INTERVAL_MS: 20, METRICS_INTERVAL_MS: 200 }),
});

/** Content that must never leave the service, each part unique. */
export function createContent() {
  const [prompt, input, output, file, failure, answer] = Array.from({ length: 6 }, () =>
    randomUUID().replaceAll("-", ""),
  ) as [string, string, string, string, string, string];
  return { prompt, input, output, file, failure, answer };
}

/** A vendor that fails, then two tools at once, then an answer. */
export function withTwoTools(content: ReturnType<typeof createContent>): Script {
  let calls = 0;
  return function* ({ step }) {
    if (calls++ === 0) yield { fail: 503, message: content.failure };
    else if (step === 0) {
      const command = `echo ${content.input} > /dev/null; echo ${content.output.slice(0, 16)}''${content.output.slice(16)}`;
      yield { tool: "bash", input: { command } };
      yield { tool: "write", input: { filePath: `${content.file}.txt`, content: content.input } };
    } else yield { text: content.answer };
  };
}

/** Resolves when the turn has ended. */
export async function runTurn(script: string, prompt: string, through: Client) {
  const conversation = await openConversation(through);
  const stream = await conversation.send(`[script:${script}] ${prompt}`);
  await stream.ended;
  expect(stream.isDone).toBe(true);
  return { conversation, stream, requestId: stream.headers.get("x-request-id") ?? "" };
}
