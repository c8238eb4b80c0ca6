/**
 * A Mastra agent with one tool that does nothing. With `MASTRA_STORAGE` it keeps its threads in that
 * LibSQL database; with `MASTRA_DURABLE` its runs are checkpointed there and recovered after a crash.
 */
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import { LibSQLStore } from "@mastra/libsql";
import { Memory } from "@mastra/memory";
import { z } from "zod";

const { MASTRA_STORAGE: url, MASTRA_DURABLE, OPENAI_BASE_URL } = process.env;
const storage = url ? new LibSQLStore({ id: "bench", url }) : undefined;
const durable = MASTRA_DURABLE === "true";

const noop = createTool({
  id: "noop",
  description: "Does nothing.",
  inputSchema: z.object({}),
  execute: async () => "ok",
});

const agent = new Agent({
  id: "agent",
  name: "agent",
  instructions: "You are a helpful assistant.",
  model: { id: "fake/fake-model", url: OPENAI_BASE_URL, apiKey: "none" },
  tools: { noop },
  memory: storage ? new Memory({ storage }) : undefined,
  durable,
});

export const mastra = new Mastra({
  agents: { agent },
  storage,
  recovery: { durableAgents: durable ? "auto" : "off" },
});
