/** Records a headless run, and the results that a client sends to another one. */
import { expect, vi } from "vitest";
import { z } from "zod";
import type { Context } from "./example-recorder.ts";

export async function recordRuns(context: Context): Promise<void> {
  const { record, caller } = context;
  const request = {
    headers: { "idempotency-key": "hello-1" },
    body: { prompt: "Write hello to hello.txt" },
  };
  const { runId } = await record("startRun", request, { schema: started });
  await waitForStatus(context, runId, "completed");
  for (const id of ["getRun", "listRunSteps", "cancelRun"]) await record(id, { params: { runId } });
  await record("readModelCall", { params: { runId, index: "1" } });
  await record("listRuns", { query: { kind: "headless", limit: "1" } });
  const { runId: calling } = started.parse((await caller.post("/api/chat/runs", toolRequest)).body);
  await waitForStatus(context, calling, "requires_action");
  const { required_action } = waitingRun.parse(
    (await caller.get(`/api/chat/runs/${calling}`)).body,
  );
  const [{ id }] = required_action.tool_calls;
  const results = [{ id, output: { title: "Nightjar", streams: 1200 } }];
  await record("sendToolResults", { params: { runId: calling }, body: { results } });
  // The following requests read the run's usage.
  await waitForStatus(context, calling, "completed");
}

const started = z.object({ runId: z.string() });
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

/** Examples are recorded in a hook, where `expect.poll` does not work. */
const waitForStatus = ({ caller }: Context, runId: string, status: string): Promise<void> =>
  vi.waitFor(
    async () => {
      const { body } = await caller.get(`/api/chat/runs/${runId}`);
      expect(Object(body).status).toBe(status);
    },
    { timeout: 60_000 },
  );
