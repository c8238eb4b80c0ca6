/**
 * The delivery worker, called directly on a separate database: due times are data in rows, so no
 * test waits for a delay. Workers in this process stand for several servers.
 */

import { randomUUID } from "node:crypto";
import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parseConfig } from "../../lib/platform/config.ts";
import { currentDatabase } from "../../lib/platform/database/create-database.ts";
import { sweepRows } from "../../lib/retention/store.ts";
import { newSecret } from "../../lib/webhooks/secret.ts";
import { claimDeliveries, recordAttempt } from "../../lib/webhooks/store.ts";
import { retryDelaySeconds, WebhookWorker } from "../../lib/webhooks/webhook-worker.ts";
import { startWebhookEndpoint, type WebhookEndpoint } from "../support/fakes/webhook-endpoint.ts";
import { startOwnParts } from "../support/harness/stack.ts";
import { registerSecret } from "../support/secrets/register.ts";

let parts: Awaited<ReturnType<typeof startOwnParts>>;
let sql: Sql;
let endpoint: WebhookEndpoint;
beforeAll(async () => {
  parts = await startOwnParts();
  // The worker runs in this process, as a server's would.
  const settings = {
    LOOPBACK_URLS: "webhooks",
    TEST_CONSTANTS: '{"WEBHOOK_TIMEOUT_MS":200}',
    LOG_LEVEL: "silent",
  };
  Object.assign(process.env, parts.env, settings);
  parseConfig(process.env);
  sql = postgres(parts.env.DATABASE_URL ?? "", { max: 3, onnotice: () => {} });
});
afterAll(async () => {
  await sql?.end();
  await parts?.stop();
});
beforeEach(async () => {
  await sql`delete from accounts where email like '%@webhooks.example.com'`;
  endpoint = await startWebhookEndpoint();
  return () => endpoint.stop();
});

async function createAccount(): Promise<string> {
  const id = randomUUID();
  await sql`insert into accounts (id, email) values (${id}, ${`${id}@webhooks.example.com`})`;
  return id;
}

async function createWebhook(accountId: string, url = endpoint.url): Promise<string> {
  const id = randomUUID();
  const { secret, sealedSecret } = newSecret(id);
  registerSecret(secret, "webhook secret");
  await sql`insert into webhooks (id, account_id, url, events, secret)
    values (${id}, ${accountId}, ${url}, '{run.completed}', ${sealedSecret})`;
  return id;
}

/** Queues events as the end of a run does, and returns the ids of their deliveries. */
async function queue(accountId: string, count = 1): Promise<string[]> {
  for (let index = 0; index < count; index++) {
    await sql`select enqueue_webhook_event(${accountId}, 'run.completed', ${sql.json({ index })})`;
  }
  const rows = await sql<{ id: string }[]>`
    select id from webhook_deliveries where account_id = ${accountId} order by created_at, id`;
  return rows.map(({ id }) => id);
}

const read = async (id: string) => {
  const [row] = await sql`select * from webhook_deliveries where id = ${id}`;
  return row ?? expect.unreachable();
};

const statesOf = async (accountId: string) =>
  sql<{ status: string; due: boolean; leased: boolean }[]>`
    select status, due_at <= now() as due, lease_id is not null as leased
    from webhook_deliveries where account_id = ${accountId}`;

/**
 * Lets workers deliver until nothing of the account is due or under way, and none of them claims any more: after
 * its last attempt a worker claims once more, and could get a delivery of the next test.
 */
async function deliver(accountId: string, ...workers: readonly WebhookWorker[]): Promise<void> {
  for (const worker of workers) worker.wake();
  const open = async () =>
    (await statesOf(accountId)).filter(({ due, leased }) => due || leased).length;
  await expect.poll(open).toBe(0);
  await expect.poll(() => workers.every(({ isIdle }) => isIdle)).toBe(true);
}

const makeDue = (id: string) =>
  sql`update webhook_deliveries set due_at = now() where id = ${id} and due_at is not null`;

describe("an endpoint that is not well", () => {
  test("fails, hangs, redirects inward and recovers: each attempt in its order, then delivered", async () => {
    const inside = await startWebhookEndpoint();
    const account = await createAccount();
    await createWebhook(account);
    const worker = new WebhookWorker(currentDatabase());
    endpoint.next(503, "silence", { redirect: inside.url });
    const [id = ""] = await queue(account);
    for (let attempt = 1; attempt <= 4; attempt++) {
      await makeDue(id);
      await deliver(account, worker);
    }
    await inside.stop();
    const { status, log, attempts, due_at } = await read(id);
    expect({ status, attempts, due_at }).toEqual({
      status: "delivered",
      attempts: 4,
      due_at: null,
    });
    expect(log).toMatchObject([
      { status_code: 503, error: null },
      { status_code: null, error: "The endpoint did not answer in time" },
      { status_code: 302, error: "Redirects are not followed" },
      { status_code: 204, error: null },
    ]);
    const times = log.map((entry: { attempted_at: string }) => entry.attempted_at);
    expect(times).toEqual([...times].sort());
    expect(inside.received).toEqual([]);
    expect(endpoint.received.map(({ headers }) => headers["webhook-id"])).toEqual(
      Array.from({ length: 4 }, () => id),
    );
    expect(new Set(endpoint.received.map(({ body }) => body)).size).toBe(1);
  });

  test("that is away altogether is tried again later, and not for ever", async () => {
    const account = await createAccount();
    await createWebhook(account);
    await endpoint.stop();
    const [id = ""] = await queue(account);
    await deliver(account, new WebhookWorker(currentDatabase()));
    const { status, log, due_at } = await read(id);
    expect(status).toBe("pending");
    expect(due_at.getTime()).toBeGreaterThan(Date.now());
    expect(log).toMatchObject([{ error: "The connection failed (ECONNREFUSED)" }]);
    await sql`update webhook_deliveries set due_at = now(), retry_until = now() where id = ${id}`;
    await deliver(account, new WebhookWorker(currentDatabase()));
    expect(await read(id)).toMatchObject({ status: "failed", due_at: null });
  });

  test("is disabled after five days of failure, and what waits for it fails", async () => {
    const account = await createAccount();
    const webhook = await createWebhook(account);
    const [id = ""] = await queue(account, 2);
    endpoint.always(500);
    await deliver(account, new WebhookWorker(currentDatabase()));
    const failing = async () =>
      (
        await sql`select enabled, disabled_reason, failing_since from webhooks where id = ${webhook}`
      )[0];
    expect(await failing()).toMatchObject({ enabled: true, failing_since: expect.any(Date) });
    await sql`update webhooks set failing_since = now() - interval '5 days 1 minute' where id = ${webhook}`;
    await makeDue(id);
    await deliver(account, new WebhookWorker(currentDatabase()));
    expect(await failing()).toMatchObject({ enabled: false, disabled_reason: "failing" });
    expect((await statesOf(account)).map(({ status }) => status)).toEqual(["failed", "failed"]);
    expect(await queue(account)).toHaveLength(2);
  });

  test("counts as well again with one success, and is disabled at once when it is gone", async () => {
    const account = await createAccount();
    const webhook = await createWebhook(account);
    await sql`update webhooks set failing_since = now() - interval '4 days' where id = ${webhook}`;
    await queue(account);
    await deliver(account, new WebhookWorker(currentDatabase()));
    const [well] = await sql`select enabled, failing_since from webhooks where id = ${webhook}`;
    expect(well).toEqual({ enabled: true, failing_since: null });
    endpoint.always(410);
    await queue(account);
    await deliver(account, new WebhookWorker(currentDatabase()));
    const [gone] = await sql`select enabled, disabled_reason from webhooks where id = ${webhook}`;
    expect(gone).toEqual({ enabled: false, disabled_reason: "gone" });
  });
});

describe("several workers", () => {
  test("deliver each event once, of many accounts, while nobody dies", async () => {
    const accounts = await Promise.all([createAccount(), createAccount(), createAccount()]);
    for (const account of accounts) await createWebhook(account);
    const ids = (await Promise.all(accounts.map((account) => queue(account, 20)))).flat();
    const workers = [
      new WebhookWorker(currentDatabase()),
      new WebhookWorker(currentDatabase()),
      new WebhookWorker(currentDatabase()),
    ];
    for (const account of accounts) await deliver(account, ...workers);
    expect(endpoint.received.map(({ headers }) => headers["webhook-id"]).sort()).toEqual(
      ids.sort(),
    );
  });

  test("take over what a worker that died had leased, and fence its late answer", async () => {
    const account = await createAccount();
    await createWebhook(account);
    const [id = ""] = await queue(account);
    const limits = { limit: 1, perAccount: 4, leaseSeconds: 60 };
    const first = "00000000-0000-0000-0000-000000000000";
    const [lost] = await claimDeliveries(currentDatabase(), { ...limits, afterAccountId: first });
    expect(lost?.id).toBe(id);
    expect(await claimDeliveries(currentDatabase(), { ...limits, afterAccountId: first })).toEqual(
      [],
    );
    // Expires its lease.
    await makeDue(id);
    await deliver(account, new WebhookWorker(currentDatabase()));
    expect(await read(id)).toMatchObject({
      status: "delivered",
      log: [{ error: "interrupted" }, { status_code: 204 }],
    });
    const late = {
      outcome: "failed",
      attemptedAt: new Date(),
      statusCode: 500,
      durationMs: 1,
      error: null,
      response: null,
    } as const;
    expect(await recordAttempt(currentDatabase(), lost ?? expect.unreachable(), late, 5)).toBe(
      false,
    );
    expect(await read(id)).toMatchObject({ status: "delivered" });
  });

  test("an account with many events leaves room for the others, in every claim", async () => {
    const [busy, quiet] = await Promise.all([createAccount(), createAccount()]);
    await Promise.all([createWebhook(busy), createWebhook(quiet)]);
    await queue(busy, 30);
    await queue(quiet);
    const claimed = await claimDeliveries(currentDatabase(), {
      afterAccountId: "00000000-0000-0000-0000-000000000000",
      limit: 10,
      perAccount: 4,
      leaseSeconds: 60,
    });
    const counts = [busy, quiet].map(
      (account) => claimed.filter(({ accountId }) => accountId === account).length,
    );
    expect(counts).toEqual([4, 1]);
  });
});

test("attempts are spread over a day, with jitter", () => {
  const planned = Array.from({ length: 12 }, (_, index) => retryDelaySeconds(index + 1, 0.5));
  expect(planned).toEqual([5, 30, 120, 600, 1800, 3600, 7200, 14400, 21600, 21600, 21600, 21600]);
  expect([0, 1].map((random) => Math.round(retryDelaySeconds(1, random)))).toEqual([4, 6]);
});

test("the log forgets what ended long ago, and replaced secrets", async () => {
  const account = await createAccount();
  const webhook = await createWebhook(account);
  const [old = "", recent = ""] = await queue(account, 2);
  await deliver(account, new WebhookWorker(currentDatabase()));
  await sql`update webhook_deliveries set finished_at = now() - interval '31 days' where id = ${old}`;
  await sql`update webhooks set previous_secret = secret, previous_secret_until = now() where id = ${webhook}`;
  expect(await sweepRows(currentDatabase(), "webhook_deliveries", 10, 30)).toBe(1);
  const left = await sql`select id from webhook_deliveries where account_id = ${account}`;
  expect(left.map(({ id }) => id)).toEqual([recent]);
  const [row] = await sql`select previous_secret from webhooks where id = ${webhook}`;
  expect(row?.previous_secret).toBeNull();
});
