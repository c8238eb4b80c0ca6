import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  createWebhook as create,
  deliveriesOf,
  WEBHOOK_URL as URL,
} from "../support/fixtures/webhooks.ts";
import { createPerson } from "../support/harness/clients.ts";
import { startRun, waitForRun } from "../support/harness/runs.ts";
import { sql } from "../support/harness/stack.ts";

describe("POST /api/webhooks", () => {
  it("201: shows the secret once, and stores it sealed", async () => {
    const person = await createPerson();
    const { webhook, secret } = await create(person, {
      events: ["run.failed", "run.completed", "run.failed"],
    });
    expect(Buffer.from(secret.replace("whsec_", ""), "base64")).toHaveLength(32);
    expect(webhook).toEqual({
      id: expect.any(String),
      url: URL,
      events: ["run.failed", "run.completed"],
      enabled: true,
      disabled_reason: null,
      failing_since: null,
      previous_secret_expires_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const read = await person.withKey.get(`/api/webhooks/${webhook.id}`);
    expect(read.body).toEqual({ status: "success", webhook });
    const [row] = await sql`select * from webhooks where id = ${webhook.id}`;
    expect(JSON.stringify(row)).not.toContain(secret.replace("whsec_", ""));
  });

  it("400: the URL is https, public and without credentials", async () => {
    const { withKey } = await createPerson();
    const valid = { url: URL, events: ["run.completed"] };
    for (const [body, sentence] of [
      [{ ...valid, url: "http://example.com/" }, "url must be an https URL"],
      [{ ...valid, url: "https://me:secret@example.com/" }, "url must not contain credentials"],
      [{ ...valid, url: "https://10.0.0.1/" }, "url must have a public address"],
      [{ ...valid, url: "https://169.254.169.254/" }, "url must have a public address"],
      [{ ...valid, url: "https://[::ffff:10.0.0.1]/" }, "url must have a public address"],
    ] as const) {
      const answer = await withKey.post("/api/webhooks", body);
      expect(answer.body).toEqual({ status: "error", error: sentence });
      expect(answer.status).toBe(400);
    }
  });

  it("403 and 409: at most twenty, each with a URL of its own, however many come at once", async () => {
    const person = await createPerson();
    const same = await Promise.all(
      Array.from({ length: 4 }, () =>
        person.withKey.post("/api/webhooks", { url: URL, events: ["run.completed"] }),
      ),
    );
    expect(same.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    const many = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        person.withKey.post("/api/webhooks", { url: `${URL}${index}`, events: ["run.failed"] }),
      ),
    );
    expect(many.filter(({ status }) => status === 201)).toHaveLength(19);
    const refused = many.find(({ status }) => status !== 201);
    expect(refused?.status).toBe(403);
    expect(refused?.body).toEqual({
      status: "error",
      error: "The account has 20 webhooks: delete one to make room",
    });
  });
});

describe("GET /api/webhooks", () => {
  it("200: own webhooks in pages, newest first, without secrets", async () => {
    const [person, other] = await Promise.all([createPerson(), createPerson()]);
    const first = await create(person, { url: `${URL}/1` });
    const second = await create(person, { url: `${URL}/2` });
    await create(other);
    const answer = await person.withKey.get("/api/webhooks?limit=1");
    expect(answer.body).toEqual({
      status: "success",
      webhooks: [second.webhook],
      next_cursor: expect.any(String),
    });
    const [, next = ""] = /<(.*)>/.exec(answer.headers.get("link") ?? "") ?? [];
    expect((await person.withKey.get(next)).body).toEqual({
      status: "success",
      webhooks: [first.webhook],
      next_cursor: null,
    });
  });
});

describe("PATCH and DELETE /api/webhooks/{id}", () => {
  it("200: changes the given fields; 409 for the URL of another webhook", async () => {
    const person = await createPerson();
    const { webhook } = await create(person);
    await create(person, { url: `${URL}/other` });
    const path = `/api/webhooks/${webhook.id}`;
    const changed = await person.withKey.patch(path, { events: ["generation.completed"] });
    expect(changed.body).toEqual({
      status: "success",
      webhook: {
        ...webhook,
        events: ["generation.completed"],
        updated_at: expect.any(String),
      },
    });
    const taken = await person.withKey.patch(path, { url: `${URL}/other` });
    expect(taken.status).toBe(409);
    const hostile = await person.withKey.patch(path, { url: "https://[fd00::1]/" });
    expect(hostile.body).toEqual({ status: "error", error: "url must have a public address" });
    const empty = await person.withKey.patch(path, {});
    expect(empty.body).toEqual({
      status: "error",
      error: "One of url, events, enabled must be provided",
    });
  });

  it("200: a disabled or deleted webhook gets no events, and waiting ones fail", async () => {
    const person = await createPerson();
    const { webhook } = await create(person, { url: `http://127.0.0.1:1/${randomUUID()}` });
    await sql`insert into webhook_deliveries (account_id, webhook_id, url, event_type, data, due_at)
      values (${person.id}, ${webhook.id}, ${webhook.url}, 'run.completed', '{}', now() + interval '1 hour')`;
    await person.withKey.patch(`/api/webhooks/${webhook.id}`, { enabled: false });
    expect(await deliveriesOf(person, webhook.id)).toMatchObject([{ status: "failed" }]);
    await waitForRun(person.withKey, await startRun(person.withKey, { prompt: "hello" }));
    expect(await deliveriesOf(person, webhook.id)).toHaveLength(1);
    const gone = await person.withKey.delete(`/api/webhooks/${webhook.id}`);
    expect(gone.body).toEqual({ status: "success" });
    const [left] = await sql`
      select count(*)::int as n from webhook_deliveries where account_id = ${person.id}`;
    expect(left?.n).toBe(0);
    expect((await person.withKey.delete(`/api/webhooks/${webhook.id}`)).status).toBe(404);
  });
});
