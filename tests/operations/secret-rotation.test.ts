/** `API_KEY_SECRET` is replaced one server after another, and nothing that was made with the old one ends. */
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { gate, type ScriptPart } from "../support/fakes/openai.ts";
import { type Client, client } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { startWorkspace, type Workspace } from "../support/harness/workspace.ts";
import { registerSecret } from "../support/secrets/register.ts";

let workspace: Workspace;
beforeAll(async () => {
  workspace = await startWorkspace();
});
afterAll(() => workspace?.stop());

const ASK = `curl -s "$AGENT_API_URL/api/accounts/id" -H "$AGENT_API_AUTH_HEADER"`;
const statusOf = async (key: string, url: string) =>
  (await client({ key }, url).get("/api/accounts/id")).status;

async function makeKey(caller: Client): Promise<string> {
  const { body, status } = await caller.post("/api/keys", { key_name: randomUUID() });
  expect(status).toBe(201);
  return registerSecret(String(Object(body).key), "API key");
}

it("keys, links, repeated requests and turns in flight stay valid, and the old secret ends", async () => {
  const old = workspace.env.API_KEY_SECRET ?? "";
  const next = registerSecret(randomBytes(32).toString("base64url"), "API_KEY_SECRET");
  const start = async (secret: string, previous = "") => {
    const env = { API_KEY_SECRET: secret, API_KEY_SECRET_PREVIOUS: previous };
    const server = await workspace.startServer({ env });
    return { ...server, as: (key: string) => client({ key }, server.url) };
  };
  await expect(start(next)).rejects.toThrow("API_KEY_SECRET is not that of the database's servers");

  const original = workspace.server;
  const [used, unused] = [await workspace.createKey(), await workspace.createKey()];
  const caller = client({ key: used }, original.url);
  const conversation = await openConversation(caller);
  const { sessionId, chatId } = conversation;
  const handover = gate();
  workspace.model.script("rotate", async function* ({ step }): AsyncGenerator<ScriptPart> {
    if (step === 1) await handover.pass();
    if (step < 2) yield { tool: "bash", input: { command: `${ASK} >> answers; echo >> answers` } };
    else yield { text: "Done." };
  });
  const turn = await conversation.send("[script:rotate]");
  await handover.reached;
  const repeat = { headers: { "idempotency-key": randomUUID() } };
  const run = { prompt: "hello" };
  const first = await caller.post("/api/chat/runs", run, repeat);
  expect(first.status, first.text).toBe(202);
  const sharePath = `/api/sessions/${sessionId}/chats/${chatId}/share`;
  const shared = await caller.request("PUT", sharePath, { body: {} });
  const token = new URL(Object(shared.body).share.url).pathname.split("/").at(-1);

  // Every server accepts both secrets before one uses the new one.
  const both = await start(old, next);
  await original.stop();
  const swapped = await start(next, old);
  expect(await statusOf(await makeKey(swapped.as(used)), both.url)).toBe(200);
  expect(await statusOf(await makeKey(both.as(used)), swapped.url)).toBe(200);
  await both.stop();

  const again = await swapped.as(used).post("/api/chat/runs", run, repeat);
  expect([again.status, again.text]).toEqual([first.status, first.text]);
  expect((await swapped.as(used).get(`/api/shares/${token}`)).status).toBe(200);
  handover.open();
  const through = conversation.through(swapped.as(used));
  await expect.poll(() => through.read().then(({ isStreaming }) => isStreaming)).toBe(false);
  const answers = (await workspace.readSandboxFile(sessionId, "answers")).trim().split("\n");
  expect(answers).toEqual([expect.stringContaining("accountId"), answers[0]]);
  await turn.ended;
  await swapped.stop();

  const last = await start(next);
  expect(await statusOf(used, last.url)).toBe(200);
  expect(await statusOf(unused, last.url)).toBe(401);
  expect((await last.as(used).get(`/api/shares/${token}`)).status).toBe(404);
  await expect(start(old)).rejects.toThrow("API_KEY_SECRET is not that of the database's servers");
});
