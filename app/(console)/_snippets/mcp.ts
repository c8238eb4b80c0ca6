import { json, runBody, type Scenario, type Target } from "./scenario.ts";

/** How the configuration of a client names a variable of its environment. */
const ENVIRONMENT_KEY = ["$", "{AGENT_PLATFORM_API_KEY}"].join("");

/** Returns the configuration of an MCP client, and the tool call that does the same. */
export const mcpConfiguration = ({ baseUrl, apiKey }: Target): string =>
  `${json({
    mcpServers: {
      "agent-platform": {
        type: "http",
        url: `${baseUrl}/api/mcp`,
        headers: { "x-api-key": apiKey ?? ENVIRONMENT_KEY },
      },
    },
  })}\n`;

/** A new chat takes two calls, so that a run stands for it. */
export function mcpToolCall(scenario: Scenario): string {
  if (scenario.kind === "chat" && scenario.chat !== null) {
    const { chat, message, contextLimit } = scenario;
    return call("startTurn", {
      ...chat,
      messages: [{ id: "1", content: message }],
      ...(contextLimit !== null && { context: { contextLimit } }),
    });
  }
  const { setup } = scenario;
  const prompt = scenario.kind === "run" ? scenario.prompt : scenario.message;
  return call("startRun", runBody({ kind: "run", prompt, setup }));
}

const call = (name: string, input: unknown): string => `${json({ name, arguments: input })}\n`;
