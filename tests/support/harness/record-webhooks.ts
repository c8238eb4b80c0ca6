import { expect, vi } from "vitest";
import { z } from "zod";
import { type Context, withId } from "./example-recorder.ts";

export async function recordWebhooks({ record, caller }: Context): Promise<void> {
  const made = z.object({ webhook: withId });
  const body = { url: "https://hooks.example.com/agent", events: ["run.completed", "run.failed"] };
  const { webhook } = await record("createWebhook", { body }, { schema: made });
  const params = { id: webhook.id };
  await record("getWebhook", { params });
  await record("listWebhooks", { query: { limit: "10" } });
  await record("rotateWebhook", { params });
  await record("updateWebhook", { params, body: { events: ["run.failed"] } });
  // A closed port: the attempt fails without a network.
  await caller.patch(`/api/webhooks/${webhook.id}`, { url: "http://127.0.0.1:1/" });
  const queued = z.object({ delivery: withId });
  const { delivery } = await record("testWebhook", { params }, { schema: queued });
  const expectEnded = async () => {
    const { text } = await caller.get(`/api/webhooks/${webhook.id}/deliveries`);
    expect(text).toContain('"status":"failed"');
  };
  await vi.waitFor(expectEnded, { timeout: 60_000 });
  await record("listDeliveries", { params, query: { limit: "10" } });
  await record("redeliver", { params: { ...params, delivery_id: delivery.id } });
  await record("deleteWebhook", { params });
}
