import { describe, expect, test } from "vitest";
import { z } from "zod";
import { runTrace } from "../../lib/turns/run-contract.ts";
import { type Client, createPerson } from "../support/harness/clients.ts";
import { startRun, waitForRun } from "../support/harness/runs.ts";
import { sql } from "../support/harness/stack.ts";

async function readTrace(caller: Client, runId: string) {
  const answer = await caller.get(`/api/chat/runs/${runId}/steps`);
  expect(answer.status, answer.text).toBe(200);
  return z.strictObject({ status: z.literal("success"), ...runTrace.shape }).parse(answer.body);
}

const readSteps = async (caller: Client, runId: string) => (await readTrace(caller, runId)).steps;

describe("GET /api/chat/runs/{runId}/steps 200", () => {
  test("a running run has the steps so far, with the state of their tools", async () => {
    const person = await createPerson();
    const run = await startRun(person.withKey, { prompt: "run: sleep 100" });
    await expect
      .poll(async () => (await readSteps(person.withKey, run.runId))[0]?.tool_calls)
      .toMatchObject([{ name: "bash", state: "running", finished_at: null, duration_ms: null }]);
    await person.withKey.post(`/api/chat/runs/${run.runId}/cancel`);
    const [step] = await readSteps(person.withKey, run.runId);
    expect(step?.tool_calls).toMatchObject([
      { state: "failed", error: "Stopped before it finished", duration_ms: expect.any(Number) },
    ]);
  });

  test("an ended run has each model call with its tool calls, until the trace has expired", async () => {
    const person = await createPerson();
    const run = await startRun(person.withKey, { prompt: "run: echo hi" });
    const { createdAt, finishedAt } = await waitForRun(person.withKey, run);
    const { run: detail, steps } = await readTrace(person.withKey, run.runId);
    const listed = await person.withKey.get("/api/chat/runs");
    expect(listed.body).toMatchObject({ runs: [{ runId: run.runId }] });
    const { artist_id, prompt, output, verdicts, required_action, ...item } = detail;
    expect({ artist_id, prompt, output, verdicts, required_action }).toEqual({
      artist_id: null,
      prompt: "run: echo hi",
      output: null,
      verdicts: [],
      required_action: null,
    });
    expect(listed.body).toMatchObject({ runs: [item] });
    expect(steps.map(({ index, attempts }) => ({ index, attempts }))).toEqual([
      { index: 0, attempts: 1 },
      { index: 1, attempts: 1 },
    ]);
    expect(
      steps.map((step) => step.tool_calls.map(({ name, state }) => ({ name, state }))),
    ).toEqual([[{ name: "bash", state: "completed" }], []]);
    const times = steps.flatMap((step) => [
      step.started_at,
      step.finished_at,
      ...step.tool_calls.flatMap((call) => [call.started_at, call.finished_at]),
    ]);
    expect([createdAt, ...times, finishedAt].toSorted()).toEqual([createdAt, ...times, finishedAt]);
    expect(steps[1]).toMatchObject({ finish_reason: "stop", cost_usd: 0 });

    // A trace that an earlier version stored has the form of the response.
    await sql`update run_traces set steps = ${sql.json(steps)} where account_id = ${person.id}`;
    expect(await readSteps(person.withKey, run.runId)).toEqual(steps);

    await sql`update run_traces set created_at = now() - interval '31 days'
      where account_id = ${person.id}`;
    const [swept] = await sql`select sweep_rows('run_traces', 1000, 30) as count`;
    expect(Number(swept?.count)).toBeGreaterThan(0);
    expect(await readSteps(person.withKey, run.runId)).toEqual([]);
  });
});
