/** Records headless runs, with and without an output, and one with a tool of its client. */
import { expect, vi } from "vitest";
import { z } from "zod";
import type { Context } from "./example-recorder.ts";

export async function recordRuns(context: Context): Promise<void> {
  const { record } = context;
  const runId = await recordRun(context, "hello-1", { prompt: "Write hello to hello.txt" });
  for (const id of ["getRun", "listRunSteps", "cancelRun"]) await record(id, { params: { runId } });
  await record("readModelCall", { params: { runId, index: "1" } });
  await record("listRuns", { query: { kind: "headless", limit: "1" } });
  const name = "with an output schema";
  const submitting = await recordRun(context, "invoice-1", outputRequest, name);
  await record("getRun", { params: { runId: submitting } }, { name });
  const calling = await recordRun(context, "track-1", toolRequest, "with a client tool");
  const params = { runId: calling };
  const { required_action } = await record(
    "getRun",
    { params },
    { schema: waitingRun, name: "that waits for its client" },
  );
  const [{ id }] = required_action.tool_calls;
  const body = { results: [{ id, output: { title: "Nightjar", streams: 1200 } }] };
  await record("sendToolResults", { params, body });
  // What follows counts the run's usage.
  await waitForStatus(context, calling, /^completed$/);
}

const waitingRun = z.object({
  required_action: z.object({ tool_calls: z.tuple([z.object({ id: z.string() })]) }),
});

const toolRequest = {
  prompt: 'call look_up_track with `{"isrc": "QZ1AB2600001"}`',
  client_tools: [
    {
      name: "look_up_track",
      description: "Looks a track up in the catalog of the label",
      input_schema: {
        type: "object",
        properties: { isrc: { type: "string" } },
        required: ["isrc"],
      },
    },
  ],
};

const outputRequest = {
  prompt: 'submit `{"total": 39.98, "currency": "EUR"}`',
  output_schema: {
    type: "object",
    properties: { total: { type: "number" }, currency: { enum: ["EUR", "USD"] } },
    required: ["total", "currency"],
  },
};

/** Records the start of a run, and waits until it ends or waits for its client. */
async function recordRun(
  context: Context,
  idempotencyKey: string,
  body: object,
  name?: string,
): Promise<string> {
  const { runId } = await context.record(
    "startRun",
    { headers: { "idempotency-key": idempotencyKey }, body },
    { schema: z.object({ runId: z.string() }), ...(name !== undefined && { name }) },
  );
  await waitForStatus(context, runId, /^(?:completed|requires_action)$/);
  return runId;
}

/** Examples are recorded in a hook, where `expect.poll` does not work. */
const waitForStatus = ({ caller }: Context, runId: string, status: RegExp): Promise<void> =>
  vi.waitFor(
    async () => {
      const { body } = await caller.get(`/api/chat/runs/${runId}`);
      expect(Object(body).status).toMatch(status);
    },
    { timeout: 60_000 },
  );
