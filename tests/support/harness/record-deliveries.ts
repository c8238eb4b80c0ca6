import { expect, vi } from "vitest";
import { z } from "zod";
import { type Context, withId } from "./example-recorder.ts";

const account = z.object({ account: z.object({ email: z.string() }) });
const started = z.object({ runId: z.string() });

/** Records the delivery of a run to the caller's own address, and an address that is to confirm. */
export async function recordDeliveries({ record, caller }: Context): Promise<void> {
  const body = { address: "manager@example.com" };
  const added = z.object({ address: withId });
  const { address } = await record("createDeliveryAddress", { body }, { schema: added });
  await record("listDeliveryAddresses", { query: { limit: "10" } });
  await record("deleteDeliveryAddress", { params: { id: address.id } });

  const { email } = account.parse((await caller.get("/api/accounts/me")).body).account;
  const deliver = [{ kind: "email", to: [email] }];
  const answer = await caller.post("/api/chat/runs", { prompt: "Say hello", deliver });
  expect(answer.status, answer.text).toBe(202);
  const { runId } = started.parse(answer.body);
  const isSent = async () => {
    const { text } = await caller.get(`/api/chat/runs/${runId}`);
    expect(text).toContain('"delivery":"sent"');
  };
  await vi.waitFor(isSent, { timeout: 60_000 });
  await record("listRunDeliveries", { params: { runId } });
}
