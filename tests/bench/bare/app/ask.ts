/** What the bare routes send to the model: the product's prompt and tools. */
import { createEmbeddedModels } from "../../../../lib/agent/models/adapters/embedded/create-embedded-model.ts";
import { createOpenAiCompatibleModels } from "../../../../lib/agent/models/adapters/openai-compatible.ts";
import { offerModels } from "../../../../lib/agent/models/offer-models.ts";
import { systemPrompt } from "../../../../lib/agent/prompt.ts";
import { toolSchemas } from "../../../../lib/agent/tools/index.ts";

const { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: apiKey } = process.env;
const models = offerModels(
  baseUrl
    ? createOpenAiCompatibleModels({ baseUrl, apiKey, offersAuto: true })
    : createEmbeddedModels(),
  { MODELS: [] },
);

export const ask = () => ({
  model: models.resolve(process.env.BARE_MODEL ?? "embedded/rules"),
  instructions: systemPrompt({
    headless: false,
    canSearch: false,
    canReachWeb: false,
    skills: "",
    workspace: { artist_id: null, memory: null, use: "write" },
  }),
  tools: toolSchemas({ headless: false }),
});
