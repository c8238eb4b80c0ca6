import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { serve } from "@hono/node-server";
import { convertToModelMessages, isStepCount, streamText, tool } from "ai";
import { Hono } from "hono";
import { z } from "zod";

const { OPENAI_BASE_URL: baseURL, PORT } = process.env;
const provider = createOpenAICompatible({ name: "fake", baseURL, apiKey: "none" });

/** As the AI SDK's guide for Hono has it. Nothing is stored. */
const app = new Hono();
app.get("/", (context) => context.text("ok"));
app.post("/api/chat", async (context) => {
  const { messages } = await context.req.json();
  const result = streamText({
    model: provider("fake-model"),
    instructions: "You are a helpful assistant.",
    messages: await convertToModelMessages(messages),
    tools: {
      noop: tool({
        description: "Does nothing.",
        inputSchema: z.object({}),
        execute: async () => "ok",
      }),
    },
    stopWhen: isStepCount(100),
  });
  return result.toUIMessageStreamResponse();
});

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(PORT) });
