/**
 * kill -9 of servers that end runs and tell an endpoint of them, which fails, hangs and redirects
 * inward. `SOAK_ROUNDS` repeats a longer run.
 */
import { randomInt } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type Behavior,
  startWebhookEndpoint,
  type WebhookEndpoint,
} from "../support/fakes/webhook-endpoint.ts";
import type { Client } from "../support/harness/clients.ts";
import { startRun, waitForRun } from "../support/harness/runs.ts";
import { clientAt, crash, startWorkspace, type Workspace } from "../support/harness/workspace.ts";

const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 10);
const RUNS = 8;

let workspace: Workspace;
let endpoint: WebhookEndpoint;
/** Of the server that lives on. */
let caller: Client;
beforeAll(async () => {
  workspace = await startWorkspace({
    LOOPBACK_URLS: "webhooks",
    TEST_CONSTANTS: '{"WEBHOOK_TIMEOUT_MS":500}',
  });
  endpoint = await startWebhookEndpoint();
  caller = await workspace.createCaller();
  const events = ["run.completed"];
  expect((await caller.post("/api/webhooks", { url: endpoint.url, events })).status).toBe(201);
});
afterAll(async () => {
  await endpoint?.stop();
  await workspace?.stop();
});

const behaviors: readonly Behavior[] = [204, 500, "silence", { redirect: "http://127.0.0.1:9/" }];
const isAccepted = (behavior: Behavior) => typeof behavior === "number" && behavior < 300;

it.each(Array.from({ length: ROUNDS }, (_, round) => round))(
  "round %i: each run is told, whoever dies",
  async () => {
    const { sql } = workspace;
    const doomed = await workspace.startServer();
    const through = clientAt(doomed.url, caller);
    const seen = endpoint.received.length;
    endpoint.next(...Array.from({ length: RUNS }, () => behaviors[randomInt(4)] ?? 204));
    const started = Array.from({ length: RUNS }, () => startRun(through, { prompt: "hello" }));
    const runs = await Promise.all(started);
    const enough = seen + randomInt(RUNS);
    await expect
      .poll(() => endpoint.received.length, { interval: 5 })
      .toBeGreaterThanOrEqual(enough);
    await crash(doomed);
    for (const run of runs)
      expect(await waitForRun(caller, run)).toMatchObject({ status: "completed" });

    const open = async () => {
      // Nobody waits for the delays here, but for the leases of the dead.
      await sql`update webhook_deliveries set due_at = now()
        where due_at > now() and lease_id is null`;
      return sql`select id from webhook_deliveries where status = 'pending'`;
    };
    await expect.poll(open, { interval: 500, timeout: 90_000 }).toEqual([]);
    const rows = await sql`
      select id, status, log, data ->> 'run_id' as run_id from webhook_deliveries
      where data ->> 'run_id' = any (${runs.map(({ runId }) => runId)})`;
    expect(rows.map(({ run_id }) => run_id).sort()).toEqual(runs.map(({ runId }) => runId).sort());
    for (const { id, status, log } of rows) {
      expect(status).toBe("delivered");
      const times = log.map((attempt: { attempted_at: string }) => attempt.attempted_at);
      expect(times).toEqual([...times].sort());
      const received = endpoint.received.filter(({ headers }) => headers["webhook-id"] === id);
      expect(received.some(({ behavior }) => isAccepted(behavior))).toBe(true);
      expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    }
  },
  180_000,
);
