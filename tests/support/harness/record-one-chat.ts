import { z } from "zod";
import { type Context, withId } from "./example-recorder.ts";

/** Records how a chat is changed, found, exported and shared. */
export async function recordOneChat(
  { record, recorder, caller }: Context,
  params: Record<string, string>,
) {
  await record("updateChat", { params, body: { title: "Hello", pinned: true } });
  await record("chooseConnectors", { params, body: { connectors: ["gmail"] } });
  await record("listChatConnectors", { params });
  await record("listAccountChats", { query: { q: "hello", pinned: "true" } });
  await record("getChatContext", { params }, { shorten: roundSystemTokens });
  await record("compactChat", { params }, { shorten: roundSystemTokens });
  // Placeholders do not recognize its dates, which are formatted for people.
  const shorten = (body: unknown) =>
    String(body).replaceAll(/_\d.* UTC_/g, "_2026-11-20 16:50 UTC_");
  await record("exportChat", { params }, { shorten });
  const schema = z.object({ share: z.object({ url: z.string() }) });
  const { share } = await record(
    "shareChat",
    { params, body: { files: ["hello.txt"] } },
    { schema },
  );
  await record("getShare", { params });
  const token = share.url.split("/").at(-1) ?? "";
  await record("readShare", { params: { token } });
  await record("readSharedFile", { params: { token, index: "0" } });
  await recorder.ask(caller, "readSharedFile", { params: { token, index: "1" } });
  await record("continueShare", { params: { token } });
  await record("revokeShare", { params });
}

const withTokens = z.looseObject({ tokens: z.number() });
const withParts = withTokens.extend({ parts: z.array(withTokens.extend({ kind: z.string() })) });

/** Rounds the size of the instructions and tools, so a change of their texts does not change the example. */
function roundSystemTokens(body: unknown) {
  const context = withParts.parse(body);
  const parts = context.parts.map((part) =>
    part.kind === "system" ? { ...part, tokens: SYSTEM_TOKENS } : part,
  );
  return { ...context, parts, tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0) };
}
const SYSTEM_TOKENS = 2_600;

export async function recordDeleteChats({ record, caller }: Context, sessionId: string) {
  const answer = await caller.post(`/api/sessions/${sessionId}/chats`, { title: "A third chat" });
  const { chat } = z.object({ chat: withId }).parse(answer.body);
  await record("deleteChats", { body: { ids: [chat.id] } });
}
