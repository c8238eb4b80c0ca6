import {
  type ChatScenario,
  json,
  noteOf,
  type RunScenario,
  runBody,
  type Scenario,
  type SetupRequest,
  setupRequests,
  type Target,
} from "./scenario.ts";

/** The languages in which a program does the same as a scenario. `language` is for syntax highlighting. */
export const views = [
  { id: "curl", label: "curl", title: "Shell", language: "sh", textOf: curlSnippet },
  {
    ...{ id: "typescript", label: "TypeScript", title: "npm install agent-platform-client" },
    ...{ language: "ts", textOf: typescriptSnippet },
  },
  {
    ...{ id: "python", label: "Python", title: "pip install httpx" },
    ...{ language: "python", textOf: pythonSnippet },
  },
] as const;

/** Returns a script that uses the package `httpx`. The JSON written here is also valid Python. */
function pythonSnippet(scenario: Scenario, { baseUrl, apiKey }: Target): string {
  const isChat = scenario.kind === "chat";
  const imports = [
    ...(isChat ? ["json"] : []),
    ...(apiKey === null ? ["os"] : []),
    isChat ? "uuid" : "time",
  ];
  const key = apiKey === null ? 'os.environ["AGENT_PLATFORM_API_KEY"]' : JSON.stringify(apiKey);
  const start = `${imports.map((name) => `import ${name}`).join("\n")}

import httpx

api = httpx.Client(
    base_url=${JSON.stringify(baseUrl)},
    headers={"x-api-key": ${key}},
    timeout=None,
)
`;
  return `${start}\n${isChat ? pythonChat(scenario) : pythonRun(scenario)}`;
}

const pythonRun = (scenario: RunScenario): string =>
  `started = api.post("/api/chat/runs", json=${python(runBody(scenario))}).raise_for_status().json()

while True:
    run = api.get(f"/api/chat/runs/{started['runId']}").raise_for_status().json()
    if run["finishedAt"]:
        break
    time.sleep(2)
print(run["status"])
`;

function pythonChat(scenario: ChatScenario): string {
  const { chat, message, setup, contextLimit } = scenario;
  const begin = chat
    ? `session_id = ${JSON.stringify(chat.sessionId)}
chat_id = ${JSON.stringify(chat.chatId)}
${noteOf(scenario, "#")}`
    : `created = api.post("/api/sessions", json={}).raise_for_status().json()
session_id, chat_id = created["session"]["id"], created["chat"]["id"]
${setupRequests(setup).map(pythonSetup).join("")}`;
  const context =
    contextLimit === null ? "" : `\n    "context": {"contextLimit": ${contextLimit}},`;
  return `${begin}api.post("/api/sandbox", json={"sessionId": session_id}).raise_for_status()

turn = {
    "sessionId": session_id,
    "chatId": chat_id,
    "messages": [{"id": str(uuid.uuid4()), "content": ${JSON.stringify(message)}}],${context}
}
with api.stream("POST", "/api/chat", json=turn) as response:
    response.raise_for_status()
    for line in response.iter_lines():
        if line.startswith("data: {"):
            chunk = json.loads(line[len("data: "):])
            if chunk["type"] == "text-delta":
                print(chunk["delta"], end="", flush=True)
`;
}

const pythonSetup = ({ method, path, body }: SetupRequest) => `api.${method.toLowerCase()}(
    f"/api/sessions/{session_id}/chats/{chat_id}${path}",
    json=${python(body).replaceAll("\n", "\n    ")},
).raise_for_status()
`;

const python = (value: unknown): string => json(value).replace(/^( +)/gm, "$1$1");

/** Returns a module that uses the package `agent-platform-client`. */
function typescriptSnippet(scenario: Scenario, { baseUrl, apiKey }: Target): string {
  const key = apiKey === null ? "process.env.AGENT_PLATFORM_API_KEY" : JSON.stringify(apiKey);
  const start = `import { createClient } from "agent-platform-client";

const client = createClient({
  baseUrl: ${JSON.stringify(baseUrl)},
  apiKey: ${key},
});
`;
  return `${start}\n${scenario.kind === "run" ? typescriptRun(scenario) : typescriptChat(scenario)}`;
}

const typescriptRun = (scenario: RunScenario): string =>
  `const { data, error } = await client.api.POST("/api/chat/runs", {
  body: ${indentTwo(json(runBody(scenario)))},
});
if (!data) throw new Error(JSON.stringify(error));

const run = await client.waitForRun(data.runId);
console.log(run.status);
`;

function typescriptChat(scenario: ChatScenario): string {
  const { chat, message, setup, contextLimit } = scenario;
  const begin = chat
    ? `const sessionId = ${JSON.stringify(chat.sessionId)};
const chatId = ${JSON.stringify(chat.chatId)};
${noteOf(scenario, "//")}`
    : `const { data, error } = await client.api.POST("/api/sessions", { body: {} });
if (!data) throw new Error(JSON.stringify(error));
const sessionId = data.session.id;
const chatId = data.chat.id;
${setupRequests(setup).map(typescriptSetup).join("")}`;
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

const typescriptSetup = ({ method, path, body }: SetupRequest) =>
  `await client.api.${method}("/api/sessions/{sessionId}/chats/{chatId}${path}", {
  params: { path: { sessionId, chatId } },
  body: ${indentTwo(json(body))},
});
`;

const indentTwo = (text: string): string => text.replaceAll("\n", "\n  ");

/** Returns a script for a POSIX shell. It reads ids of answers with jq. */
function curlSnippet(scenario: Scenario, { baseUrl, apiKey }: Target): string {
  const header =
    apiKey === null ? '"x-api-key: $AGENT_PLATFORM_API_KEY"' : quote(`x-api-key: ${apiKey}`);
  const call = (flags: string, path: string) => `curl ${flags} "${baseUrl}${path}" -H ${header}`;
  const body = (value: unknown) => ` \\\n  -d ${quote(json(value))}`;
  if (scenario.kind === "run") {
    return lines(
      `RUN=$(${call("-s", "/api/chat/runs")}${body(runBody(scenario))} | jq -r .runId)`,
      call("-s", "/api/chat/runs/$RUN"),
    );
  }
  const { chat, message, setup, contextLimit } = scenario;
  const turn = {
    sessionId: chat?.sessionId ?? variable("SESSION"),
    chatId: chat?.chatId ?? variable("CHAT"),
    messages: [{ id: variable("ID"), content: message }],
    ...(contextLimit !== null && { context: { contextLimit } }),
  };
  const session = { sessionId: turn.sessionId };
  const setUp = ({ method, path, body: fields }: SetupRequest) =>
    `${call(`-s -X ${method}`, `/api/sessions/$SESSION/chats/$CHAT${path}`)}${body(fields)}`;
  const begin = [
    `CREATED=$(${call("-s", "/api/sessions")} -d '{}')`,
    'SESSION=$(echo "$CREATED" | jq -r .session.id)',
    'CHAT=$(echo "$CREATED" | jq -r .chat.id)',
    ...setupRequests(setup).map(setUp),
  ];
  return lines(
    ...(chat ? [] : begin),
    `${noteOf(scenario, "#")}ID=$(date +%s)`,
    `${call("-s", "/api/sandbox")}${withVariables(body(session))}`,
    `${call("-N", "/api/chat")}${withVariables(body(turn))}`,
  );
}

const lines = (...commands: readonly string[]): string => `${commands.join("\n")}\n`;

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Stands for a variable of the shell; the mark is in no text that a person writes. */
const variable = (name: string): string => `\uE000${name}`;

/** Lets the shell put its variables into a quoted body. */
const withVariables = (body: string): string => body.replace(/\uE000(\w+)/g, `'"$$$1"'`);
