/** kill -9 of the server while a run submits its output. What counts across a crash is in crash-flows.test.ts. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { gate, type Script } from "../support/fakes/openai.ts";
import { startWebhookEndpoint, type WebhookEndpoint } from "../support/fakes/webhook-endpoint.ts";
import type { Client } from "../support/harness/clients.ts";
import { readRun, startRun, waitForRun } from "../support/harness/runs.ts";
import { clientAt, crash, startWorkspace, type Workspace } from "../support/harness/workspace.ts";

let workspace: Workspace;
let caller: Client;
let endpoint: WebhookEndpoint;
beforeAll(async () => {
  endpoint = await startWebhookEndpoint();
  workspace = await startWorkspace({ LOOPBACK_URLS: "webhooks" });
  caller = await workspace.createCaller();
});
afterAll(async () => {
  await workspace?.stop();
  await endpoint?.stop();
});

const output_schema = {
  type: "object",
  properties: { n: { type: "integer" } },
  required: ["n"],
};

/** Any number: the lock that held transactions wait for. */
const HELD = 20_261_999;

/** Holds every transaction that makes such a change of a table. */
async function hold(table: string, change: "insert" | "update") {
  const held = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<void>();
  const { sql } = workspace;
  const lock = sql.begin(async (transaction) => {
    await transaction`select pg_advisory_xact_lock(${HELD})`;
    ready.resolve();
    await held.promise;
  });
  await ready.promise;
  await sql.unsafe(`
    create or replace function public.test_hold() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(${HELD}); return new; end $$;
    create trigger a_test_hold before ${change} on public.${table}
      for each row execute function public.test_hold()`);
  const waiting = () => sql<{ pid: number }[]>`
    select pid from pg_locks where locktype = 'advisory' and objid = ${HELD} and not granted`;
  return {
    reached: () => expect.poll(waiting).not.toHaveLength(0),
    /** Rolls back the transactions that wait, as if the server had died before they were committed. */
    async rollBack() {
      for (const { pid } of await waiting()) await sql`select pg_terminate_backend(${pid})`;
      await expect.poll(waiting).toHaveLength(0);
      await sql.unsafe(`drop trigger a_test_hold on public.${table}`);
      held.resolve();
      await lock;
    },
  };
}

/** Fails every transaction that records the end of a tool call. */
const refuseRecords = () =>
  workspace.sql.unsafe(`
    create function public.test_refuse() returns trigger language plpgsql as $$
    begin raise exception 'recorded again'; end $$;
    create trigger a_test_refuse before update on public.tool_runs
      for each row execute function public.test_refuse()`);

/** Submits another number at each call, so a repeated call would be seen. */
function counting(): Script {
  let n = 0;
  return function* () {
    yield { text: "Here it is. " };
    yield { tool: "submit_output", input: { n: ++n } };
  };
}

async function restart(): Promise<Client> {
  const { url } = await workspace.startServer();
  return clientAt(url, caller);
}

it.each([
  ["the model's answer is recorded", "turn_steps", "insert", 2],
  ["the call has ended", "tool_runs", "update", 1],
  ["the turn has ended", "turns", "update", 1],
] as const)("a server that dies before %s neither loses nor repeats the output", async (...row) => {
  const [, table, change, calls] = row;
  const script = `killed-at-${table.replace("_", "-")}`;
  const called = gate();
  const submit = counting();
  workspace.model.script(script, async function* (call) {
    await called.pass();
    yield* submit(call);
  });
  const here = clientAt(workspace.server.url, caller);
  const more = { output_schema, webhook_url: endpoint.url };
  const run = await startRun(here, { prompt: `[script:${script}]`, ...more });
  await called.reached;
  const held = await hold(table, change);
  called.open();
  await held.reached();
  expect(await readRun(here, run)).toMatchObject({ status: "running", output: null });
  await crash(workspace.server);
  await held.rollBack();
  // What is recorded is not validated again, because the second answer might be another one.
  const isRecorded = table === "turns";
  if (isRecorded) await refuseRecords();

  const ended = await waitForRun(await restart(), run);
  if (isRecorded) await workspace.sql`drop function public.test_refuse cascade`;
  expect(ended).toMatchObject({ status: "completed", error: null, output: { n: calls } });
  // An answer that is recorded is not requested again.
  expect(workspace.model.callsOf(script)).toHaveLength(calls);
  const received = () => endpoint.received.filter(({ event }) => event.data.run_id === run.runId);
  await expect.poll(received).toHaveLength(1);
  expect(received()[0]?.event.data).toMatchObject({ status: "completed", output: { n: calls } });
});
