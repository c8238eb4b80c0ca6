/** How each endpoint is asked. This file is long because it has a row for every endpoint. */
import { randomInt, randomUUID } from "node:crypto";
import { vi } from "vitest";
import { z } from "zod";
import { makeImage } from "../support/fixtures/encoded-media.ts";
import { makeMedia, storeMedia } from "../support/fixtures/media.ts";
import { makeArtist } from "../support/fixtures/people.ts";
import { queueMessage } from "../support/fixtures/queued-messages.ts";
import { writeSandboxFile } from "../support/fixtures/sessions.ts";
import { insertRun, plainRun } from "../support/fixtures/task-runs.ts";
import { validTask } from "../support/fixtures/tasks.ts";
import { createTemplate, validTemplate } from "../support/fixtures/templates.ts";
import { createTrigger } from "../support/fixtures/triggers.ts";
import { putFile } from "../support/fixtures/workspace-files.ts";
import { type Client, client, type Person } from "../support/harness/clients.ts";
import { authorize, connectionsIn } from "../support/harness/connections.ts";
import { codeSentTo } from "../support/harness/mailbox.ts";
import { readRun, startedOf } from "../support/harness/runs.ts";
import { sql } from "../support/harness/stack.ts";
import { peopleRows } from "./people-rows.ts";
import type { Ids, Row, RunPlace } from "./row.ts";

const idIn = async (
  answer: ReturnType<Client["post"]>,
  ...path: readonly string[]
): Promise<string> => {
  let value: unknown = (await answer).body;
  for (const name of path) value = z.record(z.string(), z.unknown()).parse(value)[name];
  return z.uuid().parse(value);
};

const aKey = async (owner: Person): Promise<Ids> => ({
  id: await idIn(owner.withBearer.post("/api/keys", { key_name: "theirs" }), "id"),
});
const aSession = async (owner: Person): Promise<Ids> => ({
  sessionId: await idIn(owner.withKey.post("/api/sessions", {}), "session", "id"),
});
const aChat = async (owner: Person): Promise<Ids> => {
  const answer = owner.withKey.post("/api/sessions", {});
  return {
    sessionId: await idIn(answer, "session", "id"),
    chatId: await idIn(answer, "chat", "id"),
  };
};
/** A chat with two answers to one message. */
const aBranchedChat = async (owner: Person): Promise<Ids> => {
  const ids = await aChat(owner);
  const messageId = randomUUID();
  await sql`insert into messages (chat_id, id, role, parts, parent_id, on_path)
    values (${ids.chatId ?? ""}, ${randomUUID()}, 'assistant', '[]', '', false),
      (${ids.chatId ?? ""}, ${messageId}, 'assistant', '[]', '', true)`;
  return { ...ids, messageId };
};
const aRatedChat = async (owner: Person): Promise<Ids> => {
  const { sessionId, chatId, messageId } = await aBranchedChat(owner);
  const path = `/api/sessions/${sessionId}/chats/${chatId}/messages/${messageId}/feedback`;
  await owner.withKey.request("PUT", path, { body: { rating: "up" } });
  return { sessionId: sessionId ?? "", chatId: chatId ?? "", messageId: messageId ?? "" };
};
const aShare = async (owner: Person): Promise<Ids> => {
  const ids = await aChat(owner);
  const path = `/api/sessions/${ids.sessionId}/chats/${ids.chatId}`;
  await owner.withKey.patch(path, { title: `Chat ${ids.chatId}` });
  const { body } = await owner.withKey.request("PUT", `${path}/share`);
  const { share } = z.object({ share: z.object({ url: z.string() }) }).parse(body);
  return { ...ids, token: share.url.split("/").at(-1) ?? "" };
};
const skillFiles = (name: string) => ({
  "SKILL.md": `---\nname: ${name}\ndescription: How to do it\n---\n`,
});
const aSkill = async (owner: Person): Promise<Ids> => {
  const name = `skill-${randomUUID()}`;
  await owner.withKey.request("PUT", `/api/skills/${name}`, { body: { files: skillFiles(name) } });
  return { name };
};
const aTemplate = async (owner: Person): Promise<Ids> => ({
  id: (await createTemplate(owner.withKey, { is_private: true })).id,
});
/** With a number that is nowhere else in the answer. */
const aTemplateVersion = async (owner: Person): Promise<Ids> => {
  const { id } = await createTemplate(owner.withKey, { is_private: true });
  const version = String(randomInt(1_000_000_000, 2_000_000_000));
  await sql`update agent_template_versions set version = ${version} where template_id = ${id}`;
  return { id, version };
};
const aTaskRun = async (owner: Person): Promise<Ids> => {
  const run = plainRun(owner.id);
  await insertRun(owner.id, run);
  return { runId: run.id };
};
const aReadyChat = async (owner: Person): Promise<Ids> => {
  const ids = await aChat(owner);
  await owner.withKey.post("/api/sandbox", { sessionId: ids.sessionId });
  return ids;
};
const aQueuedMessage = async (owner: Person): Promise<Ids> => {
  const { sessionId = "", chatId = "" } = await aChat(owner);
  const message_id = await queueMessage(owner.id, { sessionId, chatId });
  return { chatId, message_id };
};
const aSandboxFile = async (owner: Person): Promise<Ids> => {
  const ids = await aSession(owner);
  await owner.withKey.post("/api/sandbox", ids);
  await writeSandboxFile(ids.sessionId ?? "", "notes.txt", "theirs");
  return ids;
};
/** The file has the id of its chat in it. */
const aSharedFile = async (owner: Person): Promise<Ids> => {
  const ids = await aShare(owner);
  await owner.withKey.post("/api/sandbox", { sessionId: ids.sessionId });
  await writeSandboxFile(ids.sessionId ?? "", "notes.txt", ids.chatId ?? "");
  const path = `/api/sessions/${ids.sessionId}/chats/${ids.chatId}/share`;
  await owner.withKey.request("PUT", path, { body: { files: ["notes.txt"] } });
  return { ...ids, index: "0" };
};
const theRunsOwnFile = async (owner: Person, { sessionId }: RunPlace): Promise<Ids> => {
  await owner.withKey.post("/api/sandbox", { sessionId });
  await writeSandboxFile(sessionId, "notes.txt", "theirs");
  return { sessionId };
};
/** Each permitted caller deletes a separate object. */
const anotherOfTheRunsOwnFiles = async (owner: Person, { sessionId }: RunPlace): Promise<Ids> => {
  await owner.withKey.post("/api/sandbox", { sessionId });
  const name = `${randomUUID()}.txt`;
  await writeSandboxFile(sessionId, name, "theirs");
  return { sessionId, name };
};
/** The path is its content, too, for the search. */
const aWorkspaceFile = async (owner: Person): Promise<Ids> => {
  const path = randomUUID();
  await putFile(owner.withKey, path, path);
  return { path };
};
const proposalFor = async (owner: Person, artist_id?: string): Promise<Ids> => {
  await putFile(owner.withKey, "MEMORY.md", randomUUID(), { artist_id });
  const [proposal] = await sql`
    insert into memory_proposals (id, file_id, base_version, account_id, state, text, diff, due_at)
    select gen_random_uuid(), id, version, ${owner.id}, 'proposed', 'shorter', '', null
    from workspace_files
    where workspace_id = ${artist_id ?? owner.id} and path = 'MEMORY.md'
    on conflict (file_id, base_version) do update set text = excluded.text
    returning id`;
  return { id: String(proposal?.id) };
};
/** A separate artist, because concurrent tests change the memory of the account. */
const aProposal = async (owner: Person): Promise<Ids> =>
  proposalFor(owner, await makeArtist(owner.withKey));
const aRun = async (owner: Person): Promise<Ids> => {
  const answer = await owner.withKey.post("/api/chat/runs", { prompt: "hello" });
  return z.object({ runId: z.string() }).parse(answer.body);
};
const aRunWithSteps = async (owner: Person): Promise<Ids> => {
  const { runId = "" } = await aRun(owner);
  const path = `/api/chat/runs/${runId}/steps/0`;
  await vi.waitUntil(async () => (await owner.withKey.get(path)).status === 200);
  return { runId, index: "0" };
};
/** Waits for two results, so it still waits when the owner has sent one of them. */
const aWaitingRun = async (owner: Person): Promise<Ids> => {
  const client_tools = ["one", "two"].map((name) => ({
    name,
    description: "",
    input_schema: { type: "object" },
  }));
  const prompt = "call one with `{}` and call two with `{}` at once";
  const run = startedOf(await owner.withKey.post("/api/chat/runs", { prompt, client_tools }));
  const calls = await vi.waitUntil(
    async () => (await readRun(owner.withKey, run)).required_action?.tool_calls,
    { timeout: 60_000 },
  );
  return { runId: run.runId, callId: calls[0]?.id ?? "" };
};
const anApproval = async (owner: Person): Promise<Ids> => {
  const body = { prompt: "run: echo hello", approvals: { bash: "ask" } };
  const run = startedOf(await owner.withKey.post("/api/chat/runs", body));
  const asked = await vi.waitUntil(
    async () => (await readRun(owner.withKey, run)).required_action?.approvals,
    { timeout: 60_000 },
  );
  return { runId: run.runId, approvalId: asked[0]?.id ?? "" };
};
const aRememberedApproval = async (owner: Person): Promise<Ids> => {
  const { runId, approvalId } = await anApproval(owner);
  const path = `/api/chat/runs/${runId}/approvals/${approvalId}`;
  await owner.withKey.post(path, { approved: true, remember: "chat" });
  const rules = z.object({ rules: z.array(z.object({ id: z.string(), approval_id: z.string() })) });
  const listed = rules.parse((await owner.withKey.get("/api/approval-rules")).body).rules;
  return { id: listed.find((rule) => rule.approval_id === approvalId)?.id ?? "" };
};
const aPublicTemplate = async (owner: Person): Promise<Ids> => ({
  id: (await createTemplate(owner.withKey)).id,
});
const aTask = async (owner: Person): Promise<Ids> => ({
  id: await idIn(owner.withKey.post("/api/tasks", validTask), "task", "id"),
});
const aTrigger = async (owner: Person): Promise<Ids> => {
  const { id, task_id } = await createTrigger(owner.withKey);
  return { id: task_id, trigger_id: id };
};
const aConnection = async (owner: Person): Promise<Ids> => {
  await authorize(owner.withKey, { connector: "gmail" });
  const [newest] = connectionsIn(await owner.withKey.get("/api/connectors"));
  return { id: z.string().parse(newest?.id) };
};
/** Other rows leave connections to Gmail behind, and each caller that disconnects needs its own service. */
const services = ["slack", "youtube", "notion", "dropbox", "github", "tiktok"];
let connected = 0;
const aConnectedService = async (owner: Person): Promise<Ids> => {
  const connector = services[connected++ % services.length] ?? "";
  await authorize(owner.withKey, { connector });
  return { connector };
};
const aConnector = async (): Promise<Ids> => ({
  connector: "gmail",
  action: "DESCRIBE_CONNECTION",
});
const aWebhook = async (owner: Person): Promise<Ids> => ({
  id: await idIn(
    owner.withKey.post("/api/webhooks", { url: closedUrl(), events: ["run.completed"] }),
    "webhook",
    "id",
  ),
});
const mcpServerBody = () => ({ name: `s-${randomUUID().slice(0, 8)}`, url: closedUrl() });
const anMcpServer = async (owner: Person): Promise<Ids> => ({
  id: await idIn(owner.withKey.post("/api/mcp-servers", mcpServerBody()), "server", "id"),
});
const aDeliveryAddress = async (owner: Person): Promise<Ids> => {
  const { email: address = "" } = await anAddress();
  return {
    id: await idIn(owner.withKey.post("/api/delivery-addresses", { address }), "address", "id"),
  };
};
const aDelivery = async (owner: Person): Promise<Ids> => {
  const { id = "" } = await aWebhook(owner);
  const answer = owner.withKey.post(`/api/webhooks/${id}/test`);
  return { id, delivery_id: await idIn(answer, "delivery", "id") };
};
/** A URL with a closed port. */
const closedUrl = () => `http://127.0.0.1:1/${randomUUID()}`;
const anAddress = async (): Promise<Ids> => ({ email: `${randomUUID()}@example.com` });
const aCode = async (): Promise<Ids> => {
  const { email = "" } = await anAddress();
  await client().post("/api/agents/signup", { email });
  return { email, code: await codeSentTo(email) };
};
const anArtist = async (): Promise<Ids> => {
  const [artist] = await sql`select id, name from catalog_artists order by popularity desc limit 1`;
  return { id: String(artist?.id), name: String(artist?.name) };
};
const aContentTemplate = async (): Promise<Ids> => ({ id: "night-drive" });
const anImage = async (owner: Person): Promise<Ids> => {
  const url = await storeMedia(owner.id, await makeImage(), "image/png");
  const [accountId = "", name = ""] = url.split("/").slice(-2);
  return { url, accountId, name };
};
const aMadeImage = async (owner: Person): Promise<Ids> => {
  const url = await makeMedia(owner.id, await makeImage(), "image/png");
  const [accountId = "", name = ""] = url.split("/").slice(-2);
  return { accountId, name };
};
const nothing = async (): Promise<Ids> => ({});

/** A call of a tool: its status says only that the message was one. */
const toolCall = (name: string, input: Record<string, unknown>) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name, arguments: input },
});

const inBody = ({ sessionId }: Ids) => ({ sessionId });
const inQuery = ({ sessionId = "" }: Ids) => ({ sessionId });

/**
 * How each line of the table (table.ts) is asked: one row for each endpoint, and one more, with a
 * word in parentheses, for another thing that it may be asked for.
 */
export const rows: Readonly<Record<string, Row>> = {
  "POST /api/agents/signup": { arrange: anAddress, body: ({ email }) => ({ email }) },
  "POST /api/agents/verify": { arrange: aCode, body: ({ email, code }) => ({ email, code }) },
  "GET /api/health": { arrange: nothing },
  "GET /api/health/ready": { arrange: nothing },
  "GET /api/openapi.json": { arrange: nothing },
  "GET /api/catalog/search": {
    arrange: anArtist,
    query: ({ name = "" }) => ({ q: name, type: "artist" }),
  },
  "GET /api/catalog/artist/albums": { arrange: anArtist, query: ({ id = "" }) => ({ id }) },
  "GET /api/catalog/open": {
    arrange: anArtist,
    query: ({ id = "" }) => ({ type: "artist", id }),
  },
  "GET /api/research/tracks": { arrange: anArtist, query: ({ id = "" }) => ({ id }) },
  "GET /api/models": { arrange: nothing },
  "POST /api/keys": { arrange: nothing, body: () => ({ key_name: "mine" }) },
  "GET /api/keys": { arrange: aKey },
  "DELETE /api/keys/{id}": { arrange: aKey },
  "POST /api/keys/{id}/rotate": { arrange: aKey, body: () => ({}) },
  ...peopleRows,
  "POST /api/sessions": { arrange: nothing, body: () => ({}) },
  "GET /api/sessions": { arrange: aSession },
  "GET /api/sessions/{sessionId}": { arrange: aSession },
  "PATCH /api/sessions/{sessionId}": { arrange: aSession, body: () => ({ title: "mine now" }) },
  "DELETE /api/sessions/{sessionId}": { arrange: aSession },
  "GET /api/chats": { arrange: aChat, query: () => ({ limit: "100" }) },
  "POST /api/chats/delete": { arrange: aChat, body: ({ chatId }) => ({ ids: [chatId] }) },
  "GET /api/shares/{token}": { arrange: aShare },
  "GET /api/shares/{token}/files/{index}": { arrange: aSharedFile },
  "POST /api/shares/{token}/chats": { arrange: aShare },
  "GET /api/sessions/{sessionId}/chats": { arrange: aSession },
  "POST /api/sessions/{sessionId}/chats": { arrange: aSession, body: () => ({}) },
  "GET /api/sessions/{sessionId}/chats/{chatId}": { arrange: aChat },
  "PATCH /api/sessions/{sessionId}/chats/{chatId}": {
    arrange: aChat,
    body: () => ({ title: "mine now" }),
  },
  "DELETE /api/sessions/{sessionId}/chats/{chatId}": { arrange: aChat },
  "GET /api/sessions/{sessionId}/chats/{chatId}/branches": { arrange: aBranchedChat },
  "PUT /api/sessions/{sessionId}/chats/{chatId}/branch": {
    arrange: aBranchedChat,
    body: ({ messageId }) => ({ message_id: messageId }),
  },
  "GET /api/sessions/{sessionId}/chats/{chatId}/context": { arrange: aChat },
  "POST /api/sessions/{sessionId}/chats/{chatId}/compact": { arrange: aChat },
  "GET /api/sessions/{sessionId}/chats/{chatId}/feedback": { arrange: aRatedChat },
  "PUT /api/sessions/{sessionId}/chats/{chatId}/messages/{messageId}/feedback": {
    arrange: aBranchedChat,
    body: () => ({ rating: "down", comment: "Too long" }),
  },
  "GET /api/sessions/{sessionId}/chats/{chatId}/export": {
    arrange: aChat,
    query: () => ({ format: "json" }),
  },
  "PUT /api/sessions/{sessionId}/chats/{chatId}/share": { arrange: aChat },
  "GET /api/sessions/{sessionId}/chats/{chatId}/share": { arrange: aShare },
  "DELETE /api/sessions/{sessionId}/chats/{chatId}/share": { arrange: aShare },
  "GET /api/sessions/{sessionId}/chats/{chatId}/connectors": { arrange: aChat },
  "PUT /api/sessions/{sessionId}/chats/{chatId}/connectors": {
    arrange: aChat,
    body: () => ({ connectors: ["gmail"] }),
  },
  "POST /api/agents/templates": { arrange: nothing, body: () => validTemplate },
  "POST /api/agents/templates (private)": {
    arrange: nothing,
    body: () => ({ ...validTemplate, is_private: true, share_emails: [] }),
  },
  "POST /api/agents/templates (shared)": {
    arrange: anAddress,
    body: ({ email }) => ({ ...validTemplate, is_private: true, share_emails: [email] }),
  },
  "GET /api/agents/templates": { arrange: aTemplate, query: () => ({ limit: "100" }) },
  "GET /api/agents/templates/{id}": { arrange: aTemplate },
  "PATCH /api/agents/templates/{id}": {
    arrange: aTemplate,
    body: () => ({ title: "mine now", is_private: true }),
  },
  "DELETE /api/agents/templates/{id}": { arrange: aTemplate },
  "GET /api/agents/templates/{id}/versions": { arrange: aTemplate },
  "GET /api/agents/templates/{id}/versions/{version}": { arrange: aTemplateVersion },
  "POST /api/agents/templates/{id}/restore": { arrange: aTemplate, body: () => ({ version: 1 }) },
  "PUT /api/agents/templates/{id}/favorite": {
    arrange: aTemplate,
    body: () => ({ is_favourite: true }),
  },
  "POST /api/agents/templates/{id}/restore (public)": {
    arrange: aPublicTemplate,
    body: () => ({ version: 1 }),
  },
  "GET /api/agents/templates/{id} (public)": { arrange: aPublicTemplate },
  "PATCH /api/agents/templates/{id} (public)": {
    arrange: aPublicTemplate,
    body: () => ({ title: "mine now" }),
  },
  "DELETE /api/agents/templates/{id} (public)": { arrange: aPublicTemplate },
  "PUT /api/agents/templates/{id}/favorite (public)": {
    arrange: aPublicTemplate,
    body: () => ({ is_favourite: true }),
  },
  "GET /api/skills": { arrange: aSkill },
  "GET /api/skills/{name}": { arrange: aSkill },
  "PUT /api/skills/{name}": {
    arrange: aSkill,
    body: ({ name = "" }) => ({ files: skillFiles(name) }),
  },
  "PATCH /api/skills/{name}": { arrange: aSkill, body: () => ({ enabled: false }) },
  "DELETE /api/skills/{name}": { arrange: aSkill },
  "GET /api/skills/{name}/versions": { arrange: aSkill },
  "POST /api/skills/{name}/restore": { arrange: aSkill, body: () => ({ version: 1 }) },
  "GET /api/mcp-servers": { arrange: anMcpServer },
  "POST /api/mcp-servers": { arrange: nothing, body: mcpServerBody },
  "GET /api/mcp-servers/{id}": { arrange: anMcpServer },
  "PATCH /api/mcp-servers/{id}": { arrange: anMcpServer, body: () => ({ enabled: false }) },
  "DELETE /api/mcp-servers/{id}": { arrange: anMcpServer },
  "POST /api/mcp-servers/{id}/refresh": { arrange: anMcpServer },
  "POST /api/mcp-servers/{id}/authorize": { arrange: anMcpServer },
  "POST /api/mcp-servers/authorizations": {
    arrange: nothing,
    body: () => ({ state: "none", code: "none" }),
  },
  "GET /api/mcp-servers/client-metadata": { arrange: nothing },
  "POST /api/mcp-servers/{id}/confirm": {
    arrange: anMcpServer,
    body: () => ({ tools: [{ name: "none", sha256: "0".repeat(64) }] }),
  },
  "POST /api/skills/import": {
    arrange: nothing,
    body: () => ({ url: "https://10.0.0.1/skill.zip" }),
  },
  "GET /api/content/templates": { arrange: aContentTemplate },
  "GET /api/content/templates/{id}": { arrange: aContentTemplate },
  "POST /api/content/image": {
    arrange: anImage,
    body: ({ url }) => ({ prompt: "A red kite", reference_image_url: url }),
  },
  "POST /api/content/video": { arrange: nothing, body: () => ({ prompt: "A red kite" }) },
  "POST /api/media": { arrange: nothing },
  "GET /api/media/{accountId}/{name}": { arrange: anImage },
  "GET /api/media/proxy": { arrange: nothing, query: () => ({ url: "https://10.0.0.1/a.png" }) },
  "DELETE /api/media/{accountId}/{name}": { arrange: aMadeImage },
  "GET /api/tasks/runs": { arrange: aTaskRun, query: ({ runId = "" }) => ({ runId }) },
  "POST /api/tasks": { arrange: nothing, body: () => validTask },
  "GET /api/tasks": { arrange: aTask },
  "GET /api/tasks/{id}": { arrange: aTask },
  "PATCH /api/tasks/{id}": { arrange: aTask, body: () => ({ title: "mine now" }) },
  "DELETE /api/tasks/{id}": { arrange: aTask },
  "GET /api/tasks/{id}/runs": { arrange: aTask },
  "POST /api/tasks/{id}/run": { arrange: aTask },
  "POST /api/tasks/{id}/triggers": { arrange: aTask, body: () => ({ kind: "webhook" }) },
  "GET /api/tasks/{id}/triggers": { arrange: aTrigger },
  "DELETE /api/tasks/{id}/triggers/{trigger_id}": { arrange: aTrigger },
  "GET /api/tasks/{id}/triggers/{trigger_id}/events": { arrange: aTrigger },
  "POST /api/triggers/{trigger_id}": { arrange: aTrigger },
  "POST /api/triggers/composio": { arrange: nothing },
  "GET /api/requests": { arrange: nothing },
  "GET /api/cron/tasks": { arrange: nothing },
  "POST /api/cron/task-runs/{id}": {
    arrange: async (owner) => ({ id: (await aTaskRun(owner)).runId ?? "" }),
  },
  "GET /api/tasks/runs (list)": { arrange: aTaskRun, query: () => ({ limit: "100" }) },
  "POST /api/delivery-addresses": {
    arrange: nothing,
    body: () => ({ address: `${randomUUID()}@example.com` }),
  },
  "GET /api/delivery-addresses": { arrange: aDeliveryAddress },
  "DELETE /api/delivery-addresses/{id}": { arrange: aDeliveryAddress },
  "POST /api/webhooks": {
    arrange: nothing,
    body: () => ({ url: closedUrl(), events: ["run.completed"] }),
  },
  "GET /api/webhooks": { arrange: aWebhook },
  "GET /api/webhooks/{id}": { arrange: aWebhook },
  "PATCH /api/webhooks/{id}": { arrange: aWebhook, body: () => ({ enabled: false }) },
  "DELETE /api/webhooks/{id}": { arrange: aWebhook },
  "POST /api/webhooks/{id}/rotate": { arrange: aWebhook },
  "POST /api/webhooks/{id}/test": { arrange: aWebhook },
  "GET /api/webhooks/{id}/deliveries": { arrange: aDelivery },
  "POST /api/webhooks/{id}/deliveries/{delivery_id}/redeliver": { arrange: aDelivery },
  "POST /api/connectors": { arrange: nothing, body: () => ({ connector: "gmail" }) },
  "GET /api/connectors": { arrange: aConnection },
  "DELETE /api/connectors/{connector}": { arrange: aConnectedService },
  "GET /api/connectors/{connector}/actions": { arrange: aConnector },
  "GET /api/connectors/{connector}/events": { arrange: aConnector },
  "POST /api/connectors/{connector}/actions/{action}": {
    arrange: aConnector,
    body: () => ({ input: {} }),
  },
  "POST /api/mcp": { arrange: aSession, body: (ids) => toolCall("getSession", ids) },
  "POST /api/mcp (change)": {
    arrange: aChat,
    body: (ids) => toolCall("updateChat", { ...ids, title: "mine now" }),
  },
  "POST /api/chat": {
    arrange: aReadyChat,
    body: (ids) => ({ ...ids, messages: [{ id: "m1", content: "hello" }] }),
  },
  "GET /api/chat/{chatId}/stream": { arrange: aChat },
  "POST /api/chat/{chatId}/stop": { arrange: aChat },
  "GET /api/chat/{chatId}/queue": { arrange: aQueuedMessage },
  "DELETE /api/chat/{chatId}/queue/{message_id}": { arrange: aQueuedMessage },
  "POST /api/chat/runs": { arrange: nothing, body: () => ({ prompt: "hello" }) },
  "GET /api/chat/runs/{runId}": { arrange: aRun },
  "GET /api/chat/runs": { arrange: aRun },
  "GET /api/chat/runs/{runId}/steps": { arrange: aRun },
  "GET /api/chat/runs/{runId}/steps/{index}": { arrange: aRunWithSteps },
  "GET /api/chat/runs/{runId}/deliveries": { arrange: aRun },
  "POST /api/chat/runs/{runId}/cancel": { arrange: aRun },
  "POST /api/chat/runs/{runId}/tool_results": {
    arrange: aWaitingRun,
    body: ({ callId = "" }) => ({ results: [{ id: callId, output: 1 }] }),
  },
  "POST /api/chat/runs/{runId}/approvals/{approvalId}": {
    arrange: anApproval,
    body: () => ({ approved: false }),
  },
  "GET /api/approvals": { arrange: anApproval },
  "GET /api/approval-rules": { arrange: aRememberedApproval },
  "DELETE /api/approval-rules/{id}": { arrange: aRememberedApproval },
  "GET /api/usage": { arrange: nothing },
  "POST /api/sandbox": { arrange: aSession, body: inBody },
  "GET /api/sandbox": { arrange: aSession, query: inQuery },
  "GET /api/sandbox (own)": { arrange: theRunsOwnFile, query: inQuery },
  "DELETE /api/sandbox": { arrange: aSession, query: inQuery },
  "GET /api/sandbox/files": { arrange: aSandboxFile, query: inQuery },
  "DELETE /api/sandbox/files": {
    arrange: aSandboxFile,
    query: (ids) => ({ ...inQuery(ids), path: "notes.txt" }),
  },
  "DELETE /api/sandbox/files (own)": {
    arrange: anotherOfTheRunsOwnFiles,
    query: (ids) => ({ ...inQuery(ids), path: ids.name ?? "" }),
  },
  "PUT /api/sandbox/files/content": {
    arrange: aSandboxFile,
    query: (ids) => ({ ...inQuery(ids), path: "notes.txt" }),
  },
  "PUT /api/sandbox/files/content (own)": {
    arrange: theRunsOwnFile,
    query: (ids) => ({ ...inQuery(ids), path: "notes.txt" }),
  },
  "GET /api/sandbox/archive": { arrange: aSandboxFile, query: inQuery },
  "GET /api/sandbox/archive (own)": { arrange: theRunsOwnFile, query: inQuery },
  "GET /api/sandbox/files (own)": { arrange: theRunsOwnFile, query: inQuery },
  "GET /api/sandbox/files/content (own)": {
    arrange: theRunsOwnFile,
    query: (ids) => ({ ...inQuery(ids), path: "notes.txt" }),
  },
  "GET /api/sandbox/files/content": {
    arrange: aSandboxFile,
    query: (ids) => ({ ...inQuery(ids), path: "notes.txt" }),
  },
  "GET /api/workspace/files": { arrange: aWorkspaceFile },
  "GET /api/workspace/files/content": {
    arrange: aWorkspaceFile,
    query: ({ path = "" }) => ({ path }),
  },
  "PUT /api/workspace/files/content": {
    arrange: aWorkspaceFile,
    query: ({ path = "" }) => ({ path }),
  },
  "DELETE /api/workspace/files/content": {
    arrange: aWorkspaceFile,
    query: ({ path = "" }) => ({ path }),
  },
  "GET /api/workspace/versions": { arrange: aWorkspaceFile, query: ({ path = "" }) => ({ path }) },
  "POST /api/workspace/restore": {
    arrange: aWorkspaceFile,
    body: ({ path }) => ({ path, version: 1 }),
  },
  "GET /api/workspace/memory/proposals": { arrange: (owner) => proposalFor(owner) },
  "POST /api/workspace/memory/proposals/{id}/accept": { arrange: aProposal },
  "POST /api/workspace/memory/proposals/{id}/reject": { arrange: aProposal },
  "GET /api/workspace/search": { arrange: aWorkspaceFile, query: ({ path = "" }) => ({ q: path }) },
};
