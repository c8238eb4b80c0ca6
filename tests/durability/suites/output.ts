/** kill -9 of the server while runs submit their outputs. Limits across a crash are in crash-flows.test.ts. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { gate, type Script } from "../../support/fakes/openai.ts";
import {
  startWebhookEndpoint,
  type WebhookEndpoint,
} from "../../support/fakes/webhook-endpoint.ts";
import { blockUpdates } from "../../support/harness/block-updates.ts";
import type { Client } from "../../support/harness/clients.ts";
import { readRun, type Started, startRun, waitForRun } from "../../support/harness/runs.ts";
import { clientAt, crash, type Workspace } from "../../support/harness/workspace.ts";
import type { ProvideWorkspace } from "./provide-workspace.ts";

const output_schema = {
  type: "object",
  properties: { n: { type: "integer" } },
  required: ["n"],
};

/** Where the server dies, by the write that it does not make, and how many model calls there are in the end. */
const places = [
  ["the model's answer is recorded", { table: "turn_steps", change: "insert", id: "turn_id" }, 2],
  ["the call has ended", { table: "tool_runs", change: "update", id: "turn_id" }, 1],
  ["the turn has ended", { table: "turns", change: "update", id: "id" }, 1],
] as const;

/** Submits another number at each call, so a repeated call would be seen. */
function counting(): Script {
  let n = 0;
  return function* () {
    yield { text: "Here it is. " };
    yield { tool: "submit_output", input: { n: ++n } };
  };
}

export function outputSuite(provide: ProvideWorkspace): void {
  let workspace: Workspace;
  let endpoint: WebhookEndpoint;
  const runs = new Map<string, { readonly caller: Client; readonly run: Started }>();

  /** Starts a run whose model waits, and which will stand before the write. */
  async function start([, { table, change, id }]: (typeof places)[number], lock: number) {
    const script = scriptOf(table);
    const called = gate();
    const submit = counting();
    workspace.model.script(script, async function* (call) {
      await called.pass();
      yield* submit(call);
    });
    // A separate account, because a waiting transaction would block its account's others.
    const caller = await workspace.createCaller();
    const more = { output_schema, webhook_url: endpoint.url };
    const run = await startRun(caller, { prompt: `[script:${script}]`, ...more });
    await called.reached;
    const [turn] = await workspace.sql`select id from turns where run_id = ${run.runId}`;
    const held = await blockUpdates(workspace.env.DATABASE_URL ?? "", {
      ...{ lock, table, change, when: `new.${id} = '${turn?.id}'` },
    });
    return { table, caller, run, turnId: String(turn?.id), called, held };
  }

  // One server dies with a run at each place.
  beforeAll(async () => {
    endpoint = await startWebhookEndpoint();
    workspace = await provide();
    const standing = await Promise.all(places.map((place, n) => start(place, 20_261_990 + n)));
    // Only now: no trigger can be created on a table that a waiting transaction has changed.
    for (const { called } of standing) called.open();
    for (const { caller, run, held } of standing) {
      const waiting = async () => expect(await held.waiting()).toBeGreaterThan(0);
      await vi.waitFor(waiting, { timeout: 60_000, interval: 20 });
      expect(await readRun(caller, run)).toMatchObject({ status: "running", output: null });
    }
    await crash(workspace.server);
    await Promise.all(standing.map(({ held }) => held.drop()));
    for (const { table, turnId } of standing) {
      // A recorded verdict is not computed again, because the second answer might differ.
      if (table === "turns") await refuseRecords(turnId);
    }
    const { url } = await workspace.startServer();
    for (const { table, caller, run } of standing) {
      runs.set(table, { caller: clientAt(url, caller), run });
    }
  });
  afterAll(async () => {
    await workspace.sql`drop function public.test_refuse cascade`;
    await endpoint.stop();
  });

  /** Fails every transaction that records the end of a tool call of the turn. */
  const refuseRecords = (turnId: string) =>
    workspace.sql.unsafe(`
      create function public.test_refuse() returns trigger language plpgsql as $$
      begin raise exception 'recorded again'; end $$;
      create trigger a_test_refuse before update on public.tool_runs
        for each row when (new.turn_id = '${turnId}') execute function public.test_refuse()`);

  const scriptOf = (table: string) => `killed-at-${table.replace("_", "-")}`;

  it.each(places)(
    "a server that dies before %s neither loses nor repeats the output",
    async (...row) => {
      const [, { table }, calls] = row;
      const started = runs.get(table);
      if (!started) throw new Error("It was not started");
      const { caller, run } = started;
      const ended = await waitForRun(caller, run);
      expect(ended).toMatchObject({ status: "completed", error: null, output: { n: calls } });
      // An answer that is recorded is not requested again.
      expect(workspace.model.callsOf(scriptOf(table))).toHaveLength(calls);
      const received = () =>
        endpoint.received.filter(({ event }) => event.data.run_id === run.runId);
      await expect.poll(received).toHaveLength(1);
      expect(received()[0]?.event.data).toMatchObject({
        status: "completed",
        output: { n: calls },
      });
    },
  );
}
