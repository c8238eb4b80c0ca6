/** `startTurn` against a database, without a server: what a request gets while others start, and after a failure. */
import { randomUUID } from "node:crypto";
import { isAppError } from "@platform/endpoint/contract/app-error";
import { log } from "@platform/kit/log";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { provisionSandbox } from "../../lib/sandbox/provision-sandbox.ts";
import { runModelSteps } from "../../lib/turns/run-model-step.ts";
import { startTurn } from "../../lib/turns/start-turn.ts";
import { createTestApp, type TestApp } from "../support/harness/test-app.ts";

let service: TestApp;
beforeAll(async () => {
  service = await createTestApp();
});
afterAll(() => service.stop());

/** Creates a chat, and returns how messages are sent to it. */
async function openChat() {
  const { app, sql } = service;
  const caller = await service.createCaller();
  const { accountId } = caller;
  const [sessionId, chatId] = [randomUUID(), randomUUID()];
  await sql`insert into sessions (id, account_id, title) values (${sessionId}, ${accountId}, 'Core')`;
  await sql`insert into chats (id, session_id, account_id, model_id)
    values (${chatId}, ${sessionId}, ${accountId}, ${app.models.defaultModelId})`;
  await provisionSandbox(app, { accountId, sessionId, log: log() });
  return {
    send: (id: string, text: string, by = app) =>
      startTurn(by, {
        caller,
        sessionId,
        chatId,
        messages: [{ id, role: "user", parts: [{ type: "text", text }] }],
        contextLimit: undefined,
        onBusy: "reject",
        signal: AbortSignal.timeout(60_000),
      }),
    turns: () => sql`select id, status from turns where chat_id = ${chatId}`,
    /** Takes the steps of the only turn of the chat that runs, as its workflow would. */
    async execute() {
      const newest = () => sql`
        select id from turns where chat_id = ${chatId} order by created_at desc limit 1`;
      await expect.poll(async () => service.runs.get((await newest())[0]?.id)).toBeDefined();
      const [turn] = await newest();
      const at = { turnId: String(turn?.id), runId: String(service.runs.get(turn?.id)) };
      return runModelSteps(app, { ...at, index: 0, attempt: 1, isFirst: true, maxModelCalls: 9 });
    },
  };
}

describe("two starts at once", () => {
  test("of two messages: one gets the chat, the other a conflict", async () => {
    const chat = await openChat();
    const answers = Promise.all([chat.send("m1", "one"), chat.send("m2", "other")]);
    expect(await chat.execute()).toBeNull();
    const [refused, ...others] = (await answers).filter((answer) => isAppError(answer));
    expect(others).toEqual([]);
    expect(refused).toMatchObject({ code: "stream_active" });
    expect(await chat.turns()).toMatchObject([{ status: "completed" }]);
  });

  test("of one message: both stream the same turn", async () => {
    const chat = await openChat();
    const answers = Promise.all([chat.send("m1", "same"), chat.send("m1", "same")]);
    expect(await chat.execute()).toBeNull();
    const [turn] = await chat.turns();
    expect(await answers).toMatchObject([{ turnId: turn?.id }, { turnId: turn?.id }]);
  });
});

test("a chat is free again if its run cannot be started", async () => {
  const chat = await openChat();
  const { engine } = service.app;
  const { executesOwnRuns, processId } = engine;
  const fails = async () => Promise.reject(new Error("no engine"));
  const broken = { ...engine, executesOwnRuns, processId, startWorkflow: fails } as typeof engine;
  await expect(chat.send("m1", "lost", { ...service.app, engine: broken })).rejects.toThrow(
    "no engine",
  );
  const answer = chat.send("m2", "next");
  expect(await chat.execute()).toBeNull();
  expect(isAppError(await answer)).toBe(false);
});
