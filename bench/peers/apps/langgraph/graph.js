/** LangGraph's own agent loop with one tool that does nothing. */
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";

const noop = tool(async () => "ok", {
  name: "noop",
  description: "Does nothing.",
  schema: z.object({}),
});

export const agent = createReactAgent({
  llm: new ChatOpenAI({
    model: "fake-model",
    apiKey: "none",
    configuration: { baseURL: process.env.OPENAI_BASE_URL },
  }),
  tools: [noop],
});
