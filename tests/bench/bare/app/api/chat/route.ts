import { convertToModelMessages, isStepCount, streamText, type UIMessage } from "ai";
import { systemPrompt } from "../../../../../../lib/agent/prompt.ts";
import { toolSchemas } from "../../../../../../lib/agent/tools/index.ts";
import { services } from "../../../../../../lib/platform/services.ts";

/** A chat turn without anything that makes it survive: the model's stream, straight to the client. */
export async function POST(request: Request): Promise<Response> {
  const { messages }: { messages: UIMessage[] } = await request.json();
  const tools = toolSchemas({ headless: false });
  const echo = { ...tools.todo, execute: async (input: unknown) => input };
  const result = streamText({
    model: services().models.resolve(process.env.BARE_MODEL ?? "embedded/rules"),
    instructions: systemPrompt({ headless: false }),
    messages: await convertToModelMessages(messages),
    tools: { ...tools, todo: echo } as typeof tools,
    stopWhen: isStepCount(100),
  });
  return result.toUIMessageStreamResponse();
}
