import { expect, vi } from "vitest";
import { z } from "zod";
import { type Context, withId } from "./example-recorder.ts";

const started = z.object({ runId: z.string() });
const waiting = z.object({ required_action: z.object({ approvals: z.tuple([withId]) }) });

/** Records a run that asks for a command, the answer, and the remembered approval. */
export async function recordApprovals({ record, caller }: Context): Promise<void> {
  const body = { prompt: "run: echo hello", approvals: { bash: "ask" } };
  const { runId } = started.parse((await caller.post("/api/chat/runs", body)).body);
  const read = async () => (await caller.get(`/api/chat/runs/${runId}`)).body;
  const waits = async () => expect(waiting.safeParse(await read()).success).toBe(true);
  await vi.waitFor(waits, { timeout: 60_000 });
  const [{ id }] = waiting.parse(await read()).required_action.approvals;
  await record("listApprovals", { query: { state: "requested" } });
  const answer = { approved: true, remember: "chat" };
  await record("answerApproval", { params: { runId, approvalId: id }, body: answer });
  const rules = z.object({ rules: z.tuple([withId]) });
  const { rules: remembered } = await record("listApprovalRules", {}, { schema: rules });
  await record("deleteApprovalRule", { params: { id: remembered[0].id } });
  const ends = async () => expect(Object(await read()).status).toBe("completed");
  await vi.waitFor(ends, { timeout: 60_000 });
}
