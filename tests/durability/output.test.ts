/** kill -9 of the server while a run submits its output. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { gate, type Script } from "../support/fakes/openai.ts";
import { startWebhookEndpoint, type WebhookEndpoint } from "../support/fakes/webhook-endpoint.ts";
import { makeImage } from "../support/fixtures/media.ts";
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

it("corrections and requests count across a crash", async () => {
  const pause = gate();
  let calls = 0;
  workspace.model.script("killed-between", async function* () {
    const call = calls++;
    if (call === 3) await pause.pass();
    if (call === 0) yield { text: "Done." };
    else yield { tool: "submit_output", input: { n: "many" } };
  });
  const here = clientAt(workspace.server.url, caller);
  const run = await startRun(here, { prompt: "[script:killed-between]", output_schema });
  await pause.reached;
  await crash(workspace.server);
  const back = await restart();
  pause.open();
  expect(await waitForRun(back, run)).toMatchObject({
    status: "failed",
    error: "output_invalid: /n must be integer",
    output: null,
  });
  // One stop, four invalid outputs, and the call that the crash has cut.
  expect(workspace.model.callsOf("killed-between")).toHaveLength(6);
});

it("a verdict counts across a crash, its judge is paid once, and an image stays in the request", async () => {
  const pause = gate();
  const image = await makeImage();
  const drawing = `echo ${Buffer.from(image).toString("base64")} | base64 -d > cover.png`;
  let answers = 0;
  let judged = 0;
  workspace.model.script("killed-after-verdict", async function* ({ tools }) {
    if (tools.length === 0) {
      judged++;
      yield {
        text: JSON.stringify({ satisfied: judged > 1, missing: judged > 1 ? [] : ["Rates"] }),
      };
      return;
    }
    answers++;
    if (answers === 1) yield { tool: "bash", input: { command: drawing } };
    else if (answers === 2) yield { tool: "read", input: { filePath: "cover.png" } };
    else {
      if (answers === 4) await pause.pass();
      yield { text: "Done." };
    }
  });
  const here = clientAt(workspace.server.url, caller);
  const outcome = { rubric: "It has rates.", max_iterations: 2 };
  const more = { outcome, model: "fake-vision" };
  const run = await startRun(here, { prompt: "[script:killed-after-verdict]", ...more });
  await pause.reached;
  await crash(workspace.server);
  const back = await restart();
  pause.open();
  expect(await waitForRun(back, run)).toMatchObject({
    status: "completed",
    verdicts: [
      { iteration: 1, verdict: "unsatisfied", missing: ["Rates"] },
      { iteration: 2, verdict: "satisfied", missing: [] },
    ],
  });
  expect(judged).toBe(2);
  const calls = workspace.model.callsOf("killed-after-verdict");
  const [cut, repeated] = calls.filter(({ tools }) => tools.length > 0).slice(3);
  expect(repeated?.messages).toEqual(cut?.messages);
  expect(JSON.stringify(repeated?.messages).match(/data:image\/jpeg;base64/g)).toHaveLength(1);
});
