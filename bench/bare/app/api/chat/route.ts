import { convertToModelMessages, isStepCount, streamText, type UIMessage } from "ai";
import { ask } from "../../ask.ts";

/** A chat turn without anything that makes it survive: the model's stream, straight to the client. */
export async function POST(request: Request): Promise<Response> {
  const { messages }: { messages: UIMessage[] } = await request.json();
  const { tools, ...asked } = ask();
  const echo = { ...tools.todo, execute: async (input: unknown) => input };
  const result = streamText({
    ...asked,
    messages: await convertToModelMessages(messages),
    tools: { ...tools, todo: echo } as typeof tools,
    stopWhen: isStepCount(100),
  });
  return result.toUIMessageStreamResponse();
}
