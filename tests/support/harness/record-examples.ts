/** Calls every operation as a new account would, and once in vain, to record the examples. */
import { randomUUID } from "node:crypto";
import type { Contract } from "@platform/endpoint/contract/contract";
import { addressOf } from "@platform/endpoint/openapi/curl";
import { expect } from "vitest";
import { z } from "zod";
import { operations } from "../../../lib/openapi/registry.ts";
import type { Placeholders } from "../fixtures/placeholders.ts";
import { type Client, client } from "./clients.ts";
import { Conversation } from "./conversation.ts";
import {
  type Asked,
  type Context,
  contractOf,
  Recorder,
  recordRow,
  withId,
} from "./example-recorder.ts";
import { codeSentTo } from "./mailbox.ts";
import { recordApprovals } from "./record-approvals.ts";
import { recordConnectors } from "./record-connectors.ts";
import { recordDeliveries } from "./record-deliveries.ts";
import { recordMcpServers } from "./record-mcp-servers.ts";
import { recordDeleteChats, recordOneChat } from "./record-one-chat.ts";
import { recordPeople } from "./record-people.ts";
import { recordRuns } from "./record-runs.ts";
import { recordSandboxFiles } from "./record-sandbox-files.ts";
import { recordSkills } from "./record-skills.ts";
import { recordTasks } from "./record-tasks.ts";
import { recordTemplates } from "./record-templates.ts";
import { recordUsage } from "./record-usage.ts";
import { recordWebhooks } from "./record-webhooks.ts";
import { recordWorkspace } from "./record-workspace.ts";

/** @param dataDir and @param cronSecret of the server, which has its mailbox in the former */
export async function recordExamples(
  url: string,
  dataDir: string,
  placeholders: Placeholders,
  cronSecret: string,
  archive: Parameters<typeof recordSkills>[1],
) {
  const anonymous = client(null, url);
  const recorder = new Recorder(placeholders);
  for (const id of [MISSING_ID, MISSING_RUN]) placeholders.keep(id);
  const key = await signUp(anonymous, recorder, placeholders, dataDir);
  const caller = client({ key }, url);
  const record: Context["record"] = async (operation, request = {}, { schema, ...more } = {}) => {
    const by = contractOf(operation).auth === "required" ? caller : anonymous;
    const answer = await recorder.ask(by, operation, request, more);
    expect(answer.status, `${operation}: ${answer.text}`).toBeLessThan(400);
    return (schema ?? z.unknown()).parse(answer.body) as never;
  };
  const context = { anonymous, caller, recorder, record };
  await recordService(context);
  await recordKeys(context);
  await recordPeople(context, placeholders, dataDir);
  await recordChats(context);
  await recordWorkspace(context);
  await recordTemplates(context);
  await recordSkills(context, archive);
  await recordMcpServers(context, placeholders);
  await recordCatalog(context);
  await recordWebhooks(context);
  await recordConnectors(context);
  await recordContent(context);
  await recordMcp(context);
  await recordTasks(context, cronSecret, placeholders);
  await recordDeliveries(context);
  await recordApprovals(context);
  for (const { id, contract } of operations) {
    if (!recorder.recorded[id]) await recordRow(context, id);
    await recordError(context, id, contract);
  }
  return recorder.recorded;
}

async function signUp(
  caller: Client,
  recorder: Recorder,
  placeholders: Placeholders,
  dataDir: string,
): Promise<string> {
  const email = `${randomUUID()}@example.com`;
  placeholders.replaceText(email, "ada@example.com");
  await recorder.ask(caller, "signup", { body: { email } });
  const code = await codeSentTo(email, dataDir);
  placeholders.replaceText(code, "482913");
  const answer = await recorder.ask(caller, "verify", { body: { email, code } });
  return z.object({ api_key: z.string() }).parse(answer.body).api_key;
}

async function recordService({ record }: Context) {
  await record("health");
  await record("ready");
  const start = z.object({ openapi: z.string(), info: z.unknown(), servers: z.unknown() });
  await record("openApi", {}, { shorten: (body) => start.parse(body) });
  await record("listModels");
}

async function recordKeys({ record }: Context) {
  const { id } = await record("createKey", { body: { key_name: "laptop" } }, { schema: withId });
  await record("listKeys");
  const rotated = { params: { id }, body: { grace_seconds: 3600 } };
  const { id: newId } = await record("rotateKey", rotated, { schema: withId });
  await record("revokeKey", { params: { id: newId } });
}

async function recordChats(context: Context) {
  const { record, caller, recorder } = context;
  const made = z.object({ session: withId, chat: withId });
  const body = { title: "Release week" };
  const { session, chat } = await record("createSession", { body }, { schema: made });
  const sessionId = session.id;
  const chatId = chat.id;
  const params = { sessionId, chatId };
  await record("getSession", { params: { sessionId } });
  await record("updateSession", { params: { sessionId }, body: { title: "Release week, Berlin" } });
  await record("listSessions", { query: { limit: "10" } });

  const messages = [{ id: "m1", content: "Write hello to hello.txt" }];
  const turn = { body: { sessionId, chatId, messages } };
  const early = await caller.post("/api/chat", turn.body);
  await record("provisionSandbox", { body: { sessionId } });
  await record("getSandbox", { query: { sessionId } });
  await record("startTurn", turn);
  recorder.keep("startTurn", turn, early);
  await record("getChat", { params });
  await recordBranches(context, params, turn.body);
  await recordOneChat(context, params);
  await recordSandboxFiles(context, sessionId);

  const other = { params: { sessionId }, body: { title: "A second chat" } };
  const second = await record("createChat", other, { schema: z.object({ chat: withId }) });
  await record("listChats", { params: { sessionId }, query: { limit: "1" } });
  await recordResumeAndStop(context, sessionId, second.chat.id);
  await record("deleteChat", { params: { sessionId, chatId: second.chat.id } });
  await recordDeleteChats(context, sessionId);

  await recordRuns(context);
  await recordUsage(context);

  await record("stopSandbox", { query: { sessionId } });
  await record("deleteSession", { params: { sessionId } });
}

/** Records another answer to the first message, the way back to the earlier one, and a rating. */
async function recordBranches(
  { record, caller }: Context,
  params: { readonly sessionId: string; readonly chatId: string },
  turn: object,
) {
  const repeated = await caller.post("/api/chat", { ...turn, parentId: "" });
  expect(repeated.status, repeated.text).toBe(200);
  const listed = z.object({ branches: z.array(z.object({ sibling_ids: z.array(z.string()) })) });
  const { branches } = await record("listBranches", { params }, { schema: listed });
  const [message_id = ""] = branches[0]?.sibling_ids ?? [];
  await record("chooseBranch", { params, body: { message_id } });
  const body = { rating: "up", comment: "Just what the label needed" };
  await record("rateMessage", { params: { ...params, messageId: message_id }, body });
  await record("listFeedback", { params });
}

/** Records a turn that ends only when it is stopped, with its whole stream. */
async function recordResumeAndStop(
  { record, caller, recorder }: Context,
  sessionId: string,
  chatId: string,
) {
  const chat = new Conversation(caller, sessionId, chatId);
  const first = await chat.send("run `sleep 100`");
  await first.until(({ type }) => type === "tool-input-available");
  const request = { params: { chatId } };
  const address = caller.url + addressOf(contractOf("resumeTurn"), request);
  // Open before the turn is stopped, read to its end afterwards.
  const resumed = await fetch(address, { headers: caller.headers });
  const next = [{ id: "m3", content: "Then add the tour dates" }];
  (await chat.send(next, { onBusy: "enqueue" })).leave();
  await record("listQueuedMessages", request);
  await record("removeQueuedMessage", { params: { chatId, message_id: "m3" } });
  await record("stopTurn", request);
  const { status, headers } = resumed;
  const text = await resumed.text();
  recorder.keep("resumeTurn", request, { status, headers, body: text, text });
  await first.ended;
}

async function recordContent({ record, recorder, caller }: Context) {
  const listed = z.object({ templates: z.array(withId) });
  const { templates } = await record("listContentTemplates", {}, { schema: listed });
  await record("getContentTemplate", { params: { id: templates[0]?.id ?? "" } });
  const made = z.object({ imageUrl: z.string() });
  const image = { prompt: "A red kite over a grey sea", aspect_ratio: "9:16" };
  const headers = { "idempotency-key": "kite-1" };
  const { imageUrl } = await record("createImage", { headers, body: image }, { schema: made });
  const [accountId = "", name = ""] = new URL(imageUrl).pathname.split("/").slice(-2);
  await record("getMedia", { params: { accountId, name } });
  await recorder.ask(caller, "proxyImage", { query: { url: "https://127.0.0.1/cover.png" } });
  await record("uploadMedia", { body: "GIF89a" });
  const video = { image_url: imageUrl, prompt: "The kite climbs", duration: "4s" };
  await record("createVideo", { headers: { "idempotency-key": "kite-2" }, body: video });
  await record("listTaskRuns", { query: { limit: "1" } });
  await record("deleteMedia", { params: { accountId, name } });
}

async function recordCatalog({ record, recorder, anonymous }: Context) {
  const found = z.object({ artists: z.object({ items: z.array(withId) }) });
  const query = { q: "Hana Mizuki Trio", type: "artist", limit: "1" };
  const { artists } = await record("searchCatalog", { query }, { schema: found });
  const id = artists.items[0]?.id ?? "";
  await record("listArtistAlbums", { query: { id, include_groups: "single", limit: "1" } });
  await record("listTracks", { query: { artist: "Velvet Harbor" } });
  // The embedded catalog has no pages outside.
  await recorder.ask(anonymous, "openPage", { query: { type: "artist", id } });
}

async function recordMcp({ record }: Context) {
  const params = {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "curl", version: "1" },
  };
  await record("callMcp", { body: { jsonrpc: "2.0", id: 1, method: "initialize", params } });
}

const MISSING_ID = "00000000-0000-4000-8000-000000000000";
const MISSING_RUN = "wrun_00000000000000000000000000";

/**
 * Records the error that says the most about an operation: the account or id that does not exist, the input that
 * is invalid, else the missing credential. An operation that has an error by now keeps it.
 */
async function recordError(
  { recorder, anonymous, caller }: Context,
  id: string,
  contract: Contract,
): Promise<void> {
  const plainest = Object.values(recorder.recorded[id] ?? {})[0]?.request ?? {};
  const wrong = wrongRequest(contract, plainest);
  if (!wrong && contract.auth !== "required") return;
  const answer = await recorder.ask(wrong ? caller : anonymous, id, wrong ?? plainest);
  expect(answer.status, `${id} ${JSON.stringify(wrong)}`).toBeGreaterThanOrEqual(400);
}

const namesTo = ({ shape }: z.ZodObject, value: string): Record<string, string> =>
  Object.fromEntries(Object.keys(shape).map((name) => [name, value]));

function wrongRequest(
  { params, query, body, accountAccess, errors }: Contract,
  plainest: Asked,
): Asked | undefined {
  const { headers: _, ...request } = plainest;
  const place = accountAccess?.in;
  if (place) {
    const given = place === "body" ? request.body : request.query;
    return { ...request, [place]: { ...Object(given), account_id: MISSING_ID } };
  }
  const unknown = JSON.stringify(request)
    .replaceAll(/[0-9a-f-]{36}/g, MISSING_ID)
    .replaceAll(/wrun_[0-9A-Z]{26}/g, MISSING_RUN);
  if (errors.includes("not_found") && unknown !== JSON.stringify(request)) {
    return JSON.parse(unknown);
  }
  if (body && !body.safeParse({}).success) return { ...request, body: {} };
  if (query instanceof z.ZodObject && "limit" in query.shape) {
    return { ...request, query: { ...request.query, limit: "0" } };
  }
  if (query && !query.safeParse({}).success) return { ...request, query: {} };
  if (params && !params.safeParse(namesTo(params, "42")).success) {
    return { ...request, params: namesTo(params, "42") };
  }
  return undefined;
}
