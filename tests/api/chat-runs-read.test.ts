import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { client, createPerson } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { createRunCredential } from "../support/harness/run-credentials.ts";
import { conversationOf, readRun, startRun, waitForRun } from "../support/harness/runs.ts";
import { sql } from "../support/harness/stack.ts";

describe("GET /api/chat/runs/{runId} 200", () => {
  it.each(["withKey", "withBearer"] as const)(
    "answers exactly the run's fields, before and after its end (%s)",
    async (credential) => {
      const person = await createPerson();
      const caller = person[credential];
      const run = await startRun(caller, { prompt: "hello" });
      const first = await readRun(caller, run);
      expect(first).toMatchObject({ ...run, error: null });
      expect(["queued", "running", "completed"]).toContain(first.status);
      const last = await waitForRun(caller, run);
      expect(last).toMatchObject({ ...run, status: "completed", error: null });
      expect(Date.parse(last.finishedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(last.createdAt));
    },
  );

  it("knows the run of a chat's turn as well", async () => {
    const person = await createPerson();
    const conversation = await openConversation(person.withKey);
    const stream = await conversation.send("hello");
    await stream.ended;
    const { sessionId, chatId } = conversation;
    const read = await readRun(person.withKey, { runId: stream.runId, sessionId, chatId });
    expect(read).toMatchObject({ runId: stream.runId, sessionId, chatId, status: "completed" });
  });

  it("a run unknown to the engine has failed", async () => {
    const person = await createPerson();
    const run = await startRun(person.withKey, { prompt: "hello" });
    await waitForRun(person.withKey, run);
    // The state after the loss of the engine's data in the middle of a run.
    const runId = `wrun_${randomUUID()}`;
    await sql`update turns set run_id = ${runId}, status = 'running', finished_at = null
      where run_id = ${run.runId}`;
    await sql`update chats set active_stream_id = ${runId} where id = ${run.chatId}`;
    const read = await readRun(person.withKey, { ...run, runId });
    expect(read).toMatchObject({ status: "failed", error: "The turn was lost" });
    expect((await conversationOf(person.withKey, run).read()).isStreaming).toBe(false);
  });

  it("answers a run's own key", async () => {
    const person = await createPerson();
    const run = await startRun(person.withKey, { prompt: "hello" });
    const runKey = client({ key: (await createRunCredential(person.id, "key")).raw });
    expect((await runKey.get(`/api/chat/runs/${run.runId}`)).status).toBe(200);
    await waitForRun(person.withKey, run);
  });
});

describe("GET /api/chat/runs/{runId} 404", () => {
  it("a run whose session was deleted is gone with it", async () => {
    const person = await createPerson();
    const run = await startRun(person.withKey, { prompt: "run: sleep 100" });
    expect((await person.withKey.delete(`/api/sessions/${run.sessionId}`)).status).toBe(200);
    expect((await person.withKey.get(`/api/chat/runs/${run.runId}`)).status).toBe(404);
  });
});
