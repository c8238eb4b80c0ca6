import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createPerson } from "../support/harness/clients.ts";
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

  it("a run of which the engine knows nothing any more has failed", async () => {
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
});

describe("GET /api/chat/runs/{runId} 404", () => {
  it("a run whose session was deleted is gone with it", async () => {
    const person = await createPerson();
    const run = await startRun(person.withKey, { prompt: "run: sleep 100" });
    expect((await person.withKey.delete(`/api/sessions/${run.sessionId}`)).status).toBe(200);
    expect((await person.withKey.get(`/api/chat/runs/${run.runId}`)).status).toBe(404);
  });
});
