import {
  chatFields,
  connectorsNote,
  json,
  runBody,
  type Scenario,
  type Target,
} from "./scenario.ts";

/** Returns a module that uses the package `agent-platform-client`. */
export function typescriptSnippet(scenario: Scenario, { baseUrl, apiKey }: Target): string {
  const key = apiKey === null ? "process.env.AGENT_PLATFORM_API_KEY" : JSON.stringify(apiKey);
  const start = `import { createClient } from "agent-platform-client";

const client = createClient({
  baseUrl: ${JSON.stringify(baseUrl)},
  apiKey: ${key},
});
`;
  return `${start}\n${scenario.kind === "run" ? run(scenario) : chat(scenario)}`;
}

const run = (
  scenario: Extract<Scenario, { kind: "run" }>,
): string => `const { data, error } = await client.api.POST("/api/chat/runs", {
  body: ${indent(json(runBody(scenario)))},
});
if (!data) throw new Error(JSON.stringify(error));

const run = await client.waitForRun(data.runId);
console.log(run.status);
`;

function chat(scenario: Extract<Scenario, { kind: "chat" }>): string {
  const { message, setup, contextLimit } = scenario;
  const fields = chatFields(setup);
  const { connectors } = setup;
  const note = connectorsNote(scenario);
  const begin =
    scenario.chat !== null
      ? `const sessionId = ${JSON.stringify(scenario.chat.sessionId)};
const chatId = ${JSON.stringify(scenario.chat.chatId)};
${note === null ? "" : `// ${note}\n`}`
      : `const { data, error } = await client.api.POST("/api/sessions", { body: {} });
if (!data) throw new Error(JSON.stringify(error));
const sessionId = data.session.id;
const chatId = data.chat.id;
${
  fields === null
    ? ""
    : `await client.api.PATCH("/api/sessions/{sessionId}/chats/{chatId}", {
  params: { path: { sessionId, chatId } },
  body: ${indent(json(fields))},
});
`
}${
  connectors.length === 0
    ? ""
    : `await client.api.PUT("/api/sessions/{sessionId}/chats/{chatId}/connectors", {
  params: { path: { sessionId, chatId } },
  body: ${indent(json({ connectors }))},
});
`
}`;
  const more =
    contextLimit === null ? "" : `\n  more: { context: { contextLimit: ${contextLimit} } },`;
  return `${begin}
const turn = client.streamTurn({
  sessionId,
  chatId,
  message: ${JSON.stringify(message)},${more}
});
for await (const event of turn) {
  if (event.type === "chunk" && event.chunk.type === "text-delta") {
    process.stdout.write(String(event.chunk.delta));
  }
}
`;
}

const indent = (text: string): string => text.replaceAll("\n", "\n  ");
