/** Answers of model servers that are not OpenAI's, in chats and runs. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeMcp, startFakeMcp } from "../../support/fakes/mcp.ts";
import type { ScriptPart } from "../../support/fakes/openai.ts";
import { client_tools } from "../../support/fixtures/client-tools.ts";
import { serverOf } from "../../support/fixtures/mcp-servers.ts";
import { provideChatServer } from "../../support/harness/chat-browser.ts";
import { type Client, createPerson } from "../../support/harness/clients.ts";
import { openConversation } from "../../support/harness/conversation.ts";
import { mailsTo } from "../../support/harness/mailbox.ts";
import {
  conversationOf,
  readRun,
  sendResults,
  startRun,
  waitForCalls,
  waitForRun,
} from "../../support/harness/runs.ts";
import { textOf } from "../../support/harness/turn-stream.ts";

const place = provideChatServer();
let fake: FakeMcp;
let caller: Client;
let email: string;
beforeAll(async () => {
  fake = await startFakeMcp();
  ({ withKey: caller, email } = await createPerson(place.server.url));
});
afterAll(() => fake.close());

const scripted = (...steps: ScriptPart[][]) => {
  const name = randomUUID();
  place.model.script(name, function* ({ step }) {
    yield* steps[step] ?? [{ text: "Done." }];
  });
  return name;
};

const thinking = ["<th", "ink>\nPrivate thoughts", " 🎸</", "think>\n\nThe ", "answer"].map(
  (text) => ({ text }),
);

test("text between think tags is not mailed", async () => {
  const script = scripted(thinking);
  const deliver = [{ kind: "email", to: [email] }];
  const run = await startRun(caller, { prompt: `[script:${script}]`, deliver });
  await waitForRun(caller, run);
  await expect.poll(async () => (await readRun(caller, run)).delivery).toBe("sent");
  const mail = (await mailsTo(email)).join("").replaceAll("=\r\n", "");
  expect(mail).toContain("The answer");
  expect(mail).not.toContain("Private");
});

test("a message whose server reports no usage shows an estimate", async () => {
  const script = scripted([{ claims: { usage: {} } }, { text: "Twenty characters..." }]);
  const run = await startRun(caller, { prompt: `[script:${script}]` });
  await waitForRun(caller, run);
  const answer = await conversationOf(caller, run).answer();
  expect(answer.metadata).toMatchObject({ usage: { outputTokens: 5 } });
  const { inputTokens } = Object(answer.metadata).usage;
  expect(inputTokens).toBeGreaterThan(100);
});

test("sources of the model's own search are parts of the message", async () => {
  const url = "https://charts.example/";
  const delta = { content: "Number one" };
  const raw = JSON.stringify({ citations: [url], choices: [{ delta, finish_reason: "stop" }] });
  const script = scripted([{ raw }]);
  const conversation = await openConversation(caller);
  await (await conversation.send(`[script:${script}]`)).ended;
  const answer = await conversation.answer();
  expect(textOf(answer)).toBe("Number one");
  expect(answer.parts).toContainEqual(expect.objectContaining({ type: "source-url", url }));
});

test("a call with an integer that loses digits is not made, and an output keeps its digits", async () => {
  const rawInput = '{"isrc":12345678901234567890}';
  const script = scripted(
    [{ tool: "look_up_track", rawInput }],
    [{ tool: "look_up_track", id: "one", input: { isrc: "12345678901234567890" } }],
  );
  const run = await startRun(caller, { prompt: `[script:${script}]`, client_tools });
  expect(await waitForCalls(caller, run)).toMatchObject([
    { id: "one", input: { isrc: "12345678901234567890" } },
  ]);
  const [, second] = place.model.callsOf(script);
  expect(second?.toolResults[0]).toMatch(/12345678901234567890 is too large .*send it as text/);
  expect(JSON.stringify(second?.messages)).toContain("12345678901234567890");
  await sendResults(caller, run, [{ id: "one", output: { views: 1 } }]);
  await waitForRun(caller, run);
});

test("the result of an MCP tool keeps its digits", async () => {
  const name = `s-${randomUUID().slice(0, 8)}`;
  const added = await caller.post("/api/mcp-servers", {
    ...{ name, url: `${fake.origin}/hostile/digits` },
  });
  expect(serverOf(added).name).toBe(name);
  const script = scripted([{ tool: `mcp__${name}__get_track`, input: { isrc: "QZ1" } }]);
  const run = await startRun(caller, { prompt: `[script:${script}]`, mcp_servers: [name] });
  await waitForRun(caller, run);
  const result = place.model.callsOf(script)[1]?.toolResults[0] ?? "";
  expect(JSON.parse(result)).toMatchObject({ structured: { id: "12345678901234567890" } });
});
