/** The server's log has no text of a conversation, whatever part of it the server cannot read. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { type FakeOpenAI, type ScriptPart, startFakeOpenAI } from "../../support/fakes/openai.ts";
import { zipOf } from "../../support/fixtures/skills.ts";
import { createPerson, type Person } from "../../support/harness/clients.ts";
import { openConversation } from "../../support/harness/conversation.ts";
import { startServer } from "../../support/harness/server.ts";

let model: FakeOpenAI;
let server: RunningNext;
let person: Person;
beforeAll(async () => {
  model = await startFakeOpenAI();
  const env = { LOG_LEVEL: "debug", OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "unused" };
  server = await startServer({ env });
  person = await createPerson(server.url);
});
afterAll(async () => {
  await server?.stop();
  await model?.close();
});

const CANARY = "Velvet-Harbor-4402";
const delta = (fields: object) => JSON.stringify({ choices: [{ index: 0, delta: fields }] });

/** Parts of a model's answer that cannot be read, or that it may not send. */
const answers: Readonly<Record<string, readonly ScriptPart[]>> = {
  "a chunk of no JSON": [{ raw: CANARY }],
  "a chunk of half a JSON": [{ raw: `{"choices": [{"delta": {"content": "${CANARY}` }],
  "a chunk of a text": [{ raw: JSON.stringify(CANARY) }],
  "choices that are no list": [{ raw: JSON.stringify({ choices: CANARY }) }],
  "a content that is no text": [{ raw: delta({ content: { text: CANARY } }) }],
  "a role that is none": [{ raw: delta({ role: CANARY, content: CANARY }) }],
  "a call without an id": [
    { raw: delta({ tool_calls: [{ index: 0, function: { name: "bash", arguments: CANARY } }] }) },
  ],
  "a call without a name": [
    { raw: delta({ tool_calls: [{ index: 0, id: "a", function: { arguments: CANARY } }] }) },
  ],
  "a call whose name is no text": [
    { raw: delta({ tool_calls: [{ index: CANARY, id: "a", function: { name: 1 } }] }) },
  ],
  "usage that is no number": [{ raw: JSON.stringify({ choices: [], usage: CANARY }) }],
  "an error that is none": [{ raw: JSON.stringify({ error: [CANARY] }) }],
  "a chunk after text": [{ text: "Once" }, { raw: `{${CANARY}` }],
  "arguments of no JSON": [{ tool: "bash", rawInput: `{"command": ${CANARY}` }],
  "arguments of another kind": [{ tool: "bash", input: { command: [CANARY], [CANARY]: 1 } }],
  "an unknown tool": [{ tool: CANARY, input: { text: CANARY } }],
};

describe.each(Object.entries(answers))("%s", (what, parts) => {
  it("is in no line of the log", async () => {
    const name = `log-${what.replaceAll(" ", "-")}`;
    model.script(name, function* ({ step }) {
      if (step === 0) yield* parts;
      else yield { text: "Done." };
    });
    const conversation = await openConversation(person.withKey);
    const stream = await conversation.send(`${CANARY} [script:${name}]`);
    await stream.ended;
    expect(stream.isDone).toBe(true);
    await expectNoCanary();
  });
});

/** A damaged file for each reader of files. */
const files = ["a.pdf", "a.xlsx", "a.docx", "a.csv", "a.json", "a.ipynb", "a.png", "a.zip"];

it("a file that no tool can read is in no line of the log", async () => {
  model.script("log-tools", function* ({ step }) {
    const file = files[step - 1];
    if (step === 0) {
      const command = files.map((one) => `printf '{"${CANARY}: [' > '${one}'`).join("; ");
      yield { tool: "bash", input: { command } };
    } else if (file) yield { tool: "read", input: { filePath: file } };
    else yield { text: "Done." };
  });
  const conversation = await openConversation(person.withKey);
  const stream = await conversation.send("[script:log-tools]");
  await stream.ended;
  expect(stream.isDone).toBe(true);
  await expectNoCanary();
});

it("a result of a client's tool that is not valid is in no line of the log", async () => {
  const conversation = await openConversation(person.withKey);
  const { sessionId, chatId } = conversation;
  const part = { type: "tool-pick", toolCallId: "a", state: "output-available", input: {} };
  for (const parts of [
    [{ ...part, output: { text: CANARY }, state: CANARY }],
    [{ ...part, toolCallId: [CANARY], output: CANARY }],
    [{ type: CANARY, text: CANARY }],
  ]) {
    const messages = [{ id: "m", role: "assistant", parts }];
    const body = { sessionId, chatId, messages };
    expect((await person.withKey.post("/api/chat", body)).status).toBeGreaterThanOrEqual(400);
  }
  await expectNoCanary();
});

it("uploads and bodies that are not valid are in no line of the log", async () => {
  const { withKey, key } = person;
  const upload = (method: string, path: string, type: string, body: BodyInit) =>
    fetch(server.url + path, {
      method,
      headers: { "x-api-key": key, "content-type": type },
      body,
    });
  const zip = new Uint8Array(
    zipOf({ "SKILL.md": `---\nname: [${CANARY}\n---\n`, [CANARY]: CANARY }),
  );
  const statuses = [
    (await upload("POST", "/api/sessions", "application/json", `{"title": "${CANARY}`)).status,
    (await upload("POST", "/api/sessions", "application/json", CANARY)).status,
    (await upload("POST", "/api/media", "image/png", CANARY)).status,
    (await upload("PUT", "/api/skills/log-content", "application/zip", zip)).status,
    (await upload("PUT", "/api/skills/log-content", "application/zip", CANARY)).status,
    (await upload("POST", "/api/mcp", "application/json", `{"jsonrpc": ${CANARY}}`)).status,
    (await withKey.post("/api/tasks", { title: [CANARY], prompt: { [CANARY]: CANARY } })).status,
    (await withKey.post("/api/chat/runs", { prompt: [CANARY], output_schema: CANARY })).status,
    (await withKey.get(`/api/sessions/${CANARY}`)).status,
    (await withKey.get(`/api/chats/search?q=${CANARY}&cursor=${CANARY}`)).status,
  ];
  expect(Math.min(...statuses)).toBeGreaterThanOrEqual(400);
  expect(Math.max(...statuses)).toBeLessThan(500);
  await expectNoCanary();
});

/** Waits for the log of a later request; all earlier lines have arrived by then. */
async function expectNoCanary(): Promise<void> {
  const marker = `marker-${crypto.randomUUID()}`;
  await person.withKey.get("/api/keys", { headers: { "x-request-id": marker } });
  await expect.poll(() => server.logs()).toContain(marker);
  const lines = server
    .logs()
    .split("\n")
    .filter((line) => line.includes(CANARY));
  expect(lines).toEqual([]);
}
