/** The bare routes' request to the model, with the product's prompt and tools. */
import { createEmbeddedModels } from "@platform/agent/models/embedded";
import { offerModels } from "@platform/agent/models/offer-models";
import { createOpenAiCompatibleModels } from "@platform/agent/models/openai-compatible";
import { systemPrompt } from "@platform/agent/prompt";
import { toolSchemas } from "@platform/agent/tools";

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
