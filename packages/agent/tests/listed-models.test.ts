/** Lists of models as vendors send them. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createOpenAiCompatibleModels } from "../src/models/adapters/openai-compatible.ts";

const entries = {
  vllm: { object: "model", max_model_len: 32_768 },
  openrouter: {
    context_length: 262_144,
    architecture: { input_modalities: ["text", "image", "file"] },
    top_provider: { context_length: 262_144 },
  },
  groq: { active: true, context_window: 131_072, max_completion_tokens: 32_768 },
  mistral: { capabilities: { completion_chat: true }, max_context_length: 128_000 },
  "lm-studio": { state: "loaded", max_context_length: 131_072, loaded_context_length: 4_096 },
  "llama-cpp": { meta: { n_ctx: 8_192, n_ctx_train: 131_072 } },
  novita: { context_size: 64_000 },
  text: { context_length: "16384" },
  unknown: { meta: { n_ctx_train: 131_072 }, context_window: null, max_model_len: -1 },
};

const list = async (body: unknown) => {
  const server = createServer((_, response) => void response.end(JSON.stringify(body)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const models = createOpenAiCompatibleModels({ baseUrl, apiKey: undefined, offersAuto: false });
  const listed = await models.list();
  server.close();
  return listed;
};

test("the context window is read in the field of each server", async () => {
  const models = Object.entries(entries).map(([id, fields]) => ({ id, ...fields }));
  const listed = await list({ object: "list", data: [...models, { id: 7 }, null] });
  expect(
    Object.fromEntries(listed?.map(({ id, contextWindow }) => [id, contextWindow]) ?? []),
  ).toEqual({
    vllm: 32_768,
    openrouter: 262_144,
    groq: 131_072,
    mistral: 128_000,
    "lm-studio": 4_096,
    "llama-cpp": 8_192,
    novita: 64_000,
    text: 16_384,
    unknown: null,
  });
  expect(listed?.[1]?.inputs).toEqual(["image", "pdf"]);
  // The format of Together.
  expect(await list(models)).toEqual(listed);
  expect(await list({ error: "no" })).toBeNull();
});
