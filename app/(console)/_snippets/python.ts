import {
  chatFields,
  connectorsNote,
  json,
  runBody,
  type Scenario,
  type Target,
} from "./scenario.ts";

/** Returns a script that uses the package `httpx`. What JSON writes here, Python reads as it is. */
export function pythonSnippet(scenario: Scenario, { baseUrl, apiKey }: Target): string {
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
  return `${start}\n${isChat ? chat(scenario) : run(scenario)}`;
}

const run = (
  scenario: Extract<Scenario, { kind: "run" }>,
): string => `started = api.post("/api/chat/runs", json=${python(runBody(scenario))}).raise_for_status().json()

while True:
    run = api.get(f"/api/chat/runs/{started['runId']}").raise_for_status().json()
    if run["finishedAt"]:
        break
    time.sleep(2)
print(run["status"])
`;

function chat(scenario: Extract<Scenario, { kind: "chat" }>): string {
  const { message, setup, contextLimit } = scenario;
  const fields = chatFields(setup);
  const { connectors } = setup;
  const note = connectorsNote(scenario);
  const begin =
    scenario.chat !== null
      ? `session_id = ${JSON.stringify(scenario.chat.sessionId)}
chat_id = ${JSON.stringify(scenario.chat.chatId)}
${note === null ? "" : `# ${note}\n`}`
      : `created = api.post("/api/sessions", json={}).raise_for_status().json()
session_id, chat_id = created["session"]["id"], created["chat"]["id"]
${
  fields === null
    ? ""
    : `api.patch(
    f"/api/sessions/{session_id}/chats/{chat_id}",
    json=${indent(python(fields))},
).raise_for_status()
`
}${
  connectors.length === 0
    ? ""
    : `api.put(
    f"/api/sessions/{session_id}/chats/{chat_id}/connectors",
    json=${indent(python({ connectors }))},
).raise_for_status()
`
}`;
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

const python = (value: unknown): string => json(value).replace(/^( +)/gm, "$1$1");

const indent = (text: string): string => text.replaceAll("\n", "\n    ");
