import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  isSignedWith,
  type Received,
  startWebhookEndpoint,
  type WebhookEndpoint,
} from "../support/fakes/webhook-endpoint.ts";
import {
  createWebhook as create,
  deliveriesOf,
  newestDelivery,
} from "../support/fixtures/webhooks.ts";
import { createPerson, dataOf } from "../support/harness/clients.ts";
import { startRun, waitForRun } from "../support/harness/runs.ts";
import { sql } from "../support/harness/stack.ts";

let endpoint: WebhookEndpoint;
beforeAll(async () => {
  endpoint = await startWebhookEndpoint();
});
afterAll(() => endpoint?.stop());

/** A URL of the endpoint that only this webhook has. */
const ownUrl = () => `${endpoint.url}/${randomUUID()}`;

const receivedFor = (id: string): Received[] =>
  endpoint.received.filter(({ headers }) => headers["webhook-id"] === id);

describe("deliveries", () => {
  it("the end of a run is sent to the webhooks that want it, signed, with ids and states alone", async () => {
    const person = await createPerson();
    const prompt = "a prompt that no payload has";
    const wanted = await create(person, { url: ownUrl(), events: ["run.completed"] });
    const other = await create(person, { url: ownUrl(), events: ["run.failed"] });
    const run = await startRun(person.withKey, { prompt });
    const { createdAt, finishedAt } = await waitForRun(person.withKey, run);
    const delivery = await newestDelivery(person, wanted.webhook.id);
    const [request, ...more] = receivedFor(delivery.id);
    expect(more).toEqual([]);
    expect(request && isSignedWith(request, wanted.secret)).toBe(true);
    expect(request && isSignedWith(request, other.secret)).toBe(false);
    expect(request?.headers["content-type"]).toBe("application/json");
    const data = {
      run_id: run.runId,
      kind: "headless",
      status: "completed",
      session_id: run.sessionId,
      chat_id: run.chatId,
      artist_id: null,
      created_at: createdAt,
      finished_at: finishedAt,
    };
    expect(request?.event).toEqual({
      type: "run.completed",
      timestamp: delivery.created_at,
      data,
    });
    expect(delivery).toMatchObject({
      webhook_id: wanted.webhook.id,
      status: "delivered",
      data,
      attempts: [{ status_code: 204, error: null, response: null }],
      next_attempt_at: null,
    });
    expect(await deliveriesOf(person, other.webhook.id)).toEqual([]);
  });

  it("webhook_url is notified of its run: unsigned, and through the webhook that has the URL", async () => {
    const person = await createPerson();
    const url = ownUrl();
    const plain = await startRun(person.withKey, { prompt: "hello", webhook_url: url });
    const requestsOf = ({ runId }: { runId: string }) =>
      endpoint.received.filter(({ event }) => event.data.run_id === runId);
    await expect.poll(() => requestsOf(plain)).toHaveLength(1);
    expect(requestsOf(plain)[0]?.headers).not.toHaveProperty("webhook-signature");

    const { webhook, secret } = await create(person, { url, events: ["run.completed"] });
    const signed = await startRun(person.withKey, { prompt: "hello", webhook_url: url });
    await newestDelivery(person, webhook.id);
    const [request, ...more] = requestsOf(signed);
    expect(more).toEqual([]);
    expect(request && isSignedWith(request, secret)).toBe(true);

    const hostile = { prompt: "hello", webhook_url: "https://192.168.0.1/" };
    const refused = await person.withKey.post("/api/chat/runs", hostile);
    expect(refused.body).toEqual({
      status: "error",
      message: "webhook_url must have a public address",
    });
  });

  it("POST …/rotate 200: both secrets sign for a day, then the new one alone", async () => {
    const person = await createPerson();
    const { webhook, secret: old } = await create(person, { url: ownUrl() });
    const path = `/api/webhooks/${webhook.id}`;
    const { webhook: shown, secret: fresh } = await dataOf(
      person.withKey.api.POST("/api/webhooks/{id}/rotate", {
        params: { path: { id: webhook.id } },
      }),
    );
    const hours = (Date.parse(shown.previous_secret_expires_at ?? "") - Date.now()) / 3_600_000;
    expect(hours).toBeCloseTo(24, 1);
    const signersOf = async () => {
      expect((await person.withKey.post(`${path}/test`)).status).toBe(202);
      const { id, event_type } = await newestDelivery(person, webhook.id);
      expect(event_type).toBe("webhook.test");
      const [request] = receivedFor(id);
      return [old, fresh].filter((secret) => request && isSignedWith(request, secret));
    };
    expect(await signersOf()).toEqual([old, fresh]);
    await sql`update webhooks set previous_secret_until = now() where id = ${webhook.id}`;
    expect(await signersOf()).toEqual([fresh]);
  });

  it("POST …/test 202: is attempted once, and the log has the response", async () => {
    const person = await createPerson();
    const { webhook } = await create(person, { url: ownUrl(), enabled: false });
    const path = `/api/webhooks/${webhook.id}`;
    endpoint.always(500);
    await person.withKey.post(`${path}/test`);
    const delivery = await newestDelivery(person, webhook.id);
    endpoint.always(204);
    expect(delivery).toMatchObject({
      status: "failed",
      attempts: [
        {
          status_code: 500,
          duration_ms: expect.any(Number),
          error: null,
          response: "the answer \uFFFD of the endpoint",
        },
      ],
    });
    const again = `${path}/deliveries/${delivery.id}/redeliver`;
    expect((await person.withKey.post(again)).status).toBe(202);
    const redelivered = await newestDelivery(person, webhook.id);
    expect(redelivered).toMatchObject({ id: delivery.id, status: "delivered" });
    expect(redelivered.attempts.map(({ status_code }) => status_code)).toEqual([500, 204]);
  });

  it("an address that is private at delivery is refused then, too", async () => {
    const person = await createPerson();
    const { webhook } = await create(person);
    await sql`update webhooks set url = 'https://10.0.0.1/' where id = ${webhook.id}`;
    await person.withKey.post(`/api/webhooks/${webhook.id}/test`);
    expect((await newestDelivery(person, webhook.id)).attempts).toMatchObject([
      { status_code: null, error: "The URL must have a public address" },
    ]);
  });
});
