import { describe, expect, test } from "vitest";
import { createPerson } from "../support/harness/clients.ts";
import { conversationOf, readRun, startRun, waitForRun } from "../support/harness/runs.ts";

describe("POST /api/chat/runs/{runId}/cancel 200", () => {
  test("ends the run, keeps its answer, and may be repeated", async () => {
    const person = await createPerson();
    const run = await startRun(person.withKey, { prompt: "run: sleep 100" });
    const cancel = () => person.withKey.post(`/api/chat/runs/${run.runId}/cancel`);
    const cancelled = { status: "success", cancelled: true };
    expect(await cancel()).toMatchObject({ status: 200, body: cancelled });
    // The answer waits for the end, but not for long.
    await expect.poll(async () => (await readRun(person.withKey, run)).status).toBe("cancelled");
    expect((await conversationOf(person.withKey, run).read()).isStreaming).toBe(false);
    expect(await cancel()).toMatchObject({ status: 200, body: cancelled });
  });

  test("leaves a run that has completed as it is", async () => {
    const person = await createPerson();
    const run = await startRun(person.withKey, { prompt: "hello" });
    await waitForRun(person.withKey, run);
    const answer = await person.withBearer.post(`/api/chat/runs/${run.runId}/cancel`);
    expect(answer.body).toEqual({ status: "success", cancelled: false });
    expect((await readRun(person.withKey, run)).status).toBe("completed");
  });
});
