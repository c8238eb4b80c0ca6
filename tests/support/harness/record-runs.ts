/** Records headless runs, with and without an output. */
import { expect, vi } from "vitest";
import { z } from "zod";
import type { Context } from "./example-recorder.ts";

export async function recordRuns(context: Context): Promise<void> {
  const { record } = context;
  const runId = await recordRun(context, "hello-1", { prompt: "Write hello to hello.txt" });
  for (const id of ["getRun", "listRunSteps", "cancelRun"]) await record(id, { params: { runId } });
  await record("listRuns", { query: { kind: "headless", limit: "1" } });
  const name = "with an output schema";
  const submitting = await recordRun(context, "invoice-1", outputRequest, name);
  await record("getRun", { params: { runId: submitting } }, { name });
}

const outputRequest = {
  prompt: 'submit `{"total": 39.98, "currency": "EUR"}`',
  output_schema: {
    type: "object",
    properties: { total: { type: "number" }, currency: { enum: ["EUR", "USD"] } },
    required: ["total", "currency"],
  },
};

/** Records the start of a run, and waits for its end. */
async function recordRun(
  { record, caller }: Context,
  idempotencyKey: string,
  body: object,
  name?: string,
): Promise<string> {
  const { runId } = await record(
    "startRun",
    { headers: { "idempotency-key": idempotencyKey }, body },
    { schema: z.object({ runId: z.string() }), ...(name !== undefined && { name }) },
  );
  const expectEnded = async () => {
    const { text } = await caller.get(`/api/chat/runs/${runId}`);
    expect(text).not.toContain('"finishedAt":null');
  };
  // Examples are recorded in a hook, where `expect.poll` does not work.
  await vi.waitFor(expectEnded, { timeout: 60_000 });
  return runId;
}
