import { convertToModelMessages, isStepCount, streamText, type UIMessage } from "ai";
import { createEmbeddedModels } from "../../../../../../lib/agent/models/adapters/embedded/create-embedded-model.ts";
import { createOpenAiCompatibleModels } from "../../../../../../lib/agent/models/adapters/openai-compatible.ts";
import { offerModels } from "../../../../../../lib/agent/models/offer-models.ts";
import { systemPrompt } from "../../../../../../lib/agent/prompt.ts";
import { toolSchemas } from "../../../../../../lib/agent/tools/index.ts";

const { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: apiKey } = process.env;
const models = offerModels(
  baseUrl
    ? createOpenAiCompatibleModels({ baseUrl, apiKey, offersAuto: true })
    : createEmbeddedModels(),
  { MODELS: [] },
);

/** A chat turn without anything that makes it survive: the model's stream, straight to the client. */
export async function POST(request: Request): Promise<Response> {
  const { messages }: { messages: UIMessage[] } = await request.json();
  const tools = toolSchemas({ headless: false });
  const echo = { ...tools.todo, execute: async (input: unknown) => input };
  const result = streamText({
    model: models.resolve(process.env.BARE_MODEL ?? "embedded/rules"),
    instructions: systemPrompt({
      headless: false,
      skills: "",
      workspace: { artist_id: null, memory: null, use: "write" },
    }),
    messages: await convertToModelMessages(messages),
    tools: { ...tools, todo: echo } as typeof tools,
    stopWhen: isStepCount(100),
  });
  return result.toUIMessageStreamResponse();
}
