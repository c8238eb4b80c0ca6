/** An account cannot fill the database with messages, and the error names the remedy. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { RunningNext } from "../../scripts/run-next.ts";
import { type Answer, createPerson } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { startServer } from "../support/harness/server.ts";

const LIMIT = 100_000;
const text = "x".repeat(LIMIT * 0.6);

let server: RunningNext;
beforeAll(async () => {
  server = await startServer({ env: { ACCOUNT_MESSAGE_BYTES: String(LIMIT) } });
});
afterAll(() => server?.stop());

const codeOf = (answer: Answer) => [answer.status, answer.headers.get("x-error-code")];

test("a full account starts no turn and no run until a chat is deleted", async () => {
  const { withKey } = await createPerson(server.url);
  const { sessionId, chatId } = await openConversation(withKey);
  const send = (id: string, content: string) =>
    withKey.post("/api/chat", { sessionId, chatId, messages: [{ id, content }] });
  expect((await send("m1", text)).status).toBe(200);
  expect(codeOf(await send("m2", text))).toEqual([403, "messages_full"]);
  const run = { prompt: text };
  expect(codeOf(await withKey.post("/api/chat/runs", run))).toEqual([403, "messages_full"]);
  const path = `/api/sessions/${sessionId}/chats/${chatId}`;
  const shared = z
    .object({ share: z.object({ url: z.url() }) })
    .parse((await withKey.request("PUT", `${path}/share`)).body);
  const token = new URL(shared.share.url).pathname.split("/").at(-1);
  const copied = await withKey.request("POST", `/api/shares/${token}/chats`);
  expect(codeOf(copied)).toEqual([403, "messages_full"]);
  expect((await withKey.delete(path)).status).toBe(200);
  expect((await withKey.post("/api/chat/runs", run)).status).toBe(202);
});
