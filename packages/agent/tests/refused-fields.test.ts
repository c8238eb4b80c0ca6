import type { ModelMessage } from "ai";
import { generateText, streamText, tool } from "ai";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { type FakeOpenAI, startFakeOpenAI } from "../../../tests/support/fakes/openai.ts";
import { PROFILES } from "../../../tests/support/fakes/strict-rules.ts";
import { PIXEL_PNG } from "../../../tests/support/fixtures/pixel.ts";
import { modelsAt } from "./models-at.ts";

let server: FakeOpenAI;
beforeEach(async () => {
  server = await startFakeOpenAI();
});
afterEach(() => server.close());

const bash = tool({ inputSchema: z.object({ command: z.string() }) });
/** A conversation with everything that some server refuses. */
const messages: ModelMessage[] = [
  {
    role: "user",
    content: [
      { type: "text", text: "Look" },
      { type: "file", data: PIXEL_PNG, mediaType: "image/png" },
    ],
  },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "Hm" },
      { type: "tool-call", toolCallId: "call_1", toolName: "bash", input: { command: "ls" } },
      { type: "tool-call", toolCallId: "call_2", toolName: "bash", input: { command: "ls" } },
    ],
  },
  {
    role: "tool",
    content: ["call_1", "call_2"].map((toolCallId) => ({
      ...{ type: "tool-result", toolCallId, toolName: "bash" },
      output: { type: "text", value: "done" },
    })) as never,
  },
  { role: "user", content: "And now?" },
];

describe.each(PROFILES)("the server of %s", (profile) => {
  test("answers, and refused fields are not sent twice", async () => {
    const models = modelsAt(server.url);
    const request = () => ({
      model: models.resolve(`fake-${profile}`),
      messages,
      tools: { bash },
      maxOutputTokens: 100,
      maxRetries: 0,
    });
    expect(await streamText(request()).text).toBe("You said: And now?");
    const before = server.refused.length;
    expect((await generateText(request())).text).toBe("You said: And now?");
    expect(await streamText(request()).text).toBe("You said: And now?");
    expect(server.refused.length).toBe(before);
  });
});

test("reasoning is sent back under the name in which it came", async () => {
  server.script("thinks", function* () {
    yield { reasoning: "Hm" };
    yield { text: "Hello" };
  });
  const models = modelsAt(server.url);
  const ask = async (model: string) => {
    await streamText({ model: models.resolve(model), prompt: "[script:thinks]" }).text;
    await streamText({ model: models.resolve(model), messages }).text;
    return server.calls.at(-1)?.messages.find(({ role }) => role === "assistant");
  };
  expect(await ask("fake-groq")).toMatchObject({ reasoning: "Hm" });
  expect(await ask("fake-moonshot")).toMatchObject({ reasoning_content: "Hm" });
  expect(server.refused).toEqual([]);
});

test("an error that only quotes a field is the error of the first request", async () => {
  server.script("wrong", function* () {
    yield { fail: 400, message: "The value of temperature is out of range" };
  });
  const models = modelsAt(server.url);
  const ask = (prompt: string) =>
    generateText({ model: models.resolve("fake-model"), prompt, temperature: 0.5, maxRetries: 0 });
  await expect(ask("[script:wrong]")).rejects.toThrow("temperature is out of range");
  await ask("Hello");
  expect(server.calls.at(-1)?.temperature).toBe(0.5);
});

test("max_completion_tokens takes the place of max_tokens where a server demands it", async () => {
  const models = modelsAt(server.url);
  const model = models.resolve("fake-openai");
  await generateText({ model, prompt: "Hello", maxOutputTokens: 7 });
  expect(server.refused).toHaveLength(1);
  expect(server.calls.at(-1)).toMatchObject({ maxTokens: undefined, maxCompletionTokens: 7 });
});
