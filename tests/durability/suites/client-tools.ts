/** Runs that wait for their client: no process has them, and kill -9 of any process loses nothing. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Script } from "../../support/fakes/openai.ts";
import {
  startWebhookEndpoint,
  type WebhookEndpoint,
} from "../../support/fakes/webhook-endpoint.ts";
import { blockUpdates } from "../../support/harness/block-updates.ts";
import type { Client } from "../../support/harness/clients.ts";
import {
  conversationOf,
  readRun,
  type Started,
  sendResults,
  startRun,
  waitForCalls,
  waitForRun,
} from "../../support/harness/runs.ts";
import { assemble, expectCompleteTurn } from "../../support/harness/turn-stream.ts";
import { clientAt, crash, type Workspace } from "../../support/harness/workspace.ts";
import type { World } from "../../support/harness/worlds.ts";
import type { ProvideWorkspace } from "./provide-workspace.ts";

const play = {
  name: "play",
  description: "Plays a track",
  input_schema: { type: "object", properties: { isrc: { type: "string" } } },
};

/** Calls the tool of the client and a command at once, twice. */
const twice: Script = function* ({ step, toolResults }) {
  if (step === 2) yield { text: `Told: ${toolResults.join(" | ")}` };
  else {
    yield { tool: "play", id: `play-${step}`, input: { isrc: "QZ1" } };
    yield { tool: "bash", id: `bash-${step}`, input: { command: "echo run >> effects" } };
  }
};

/** @param world the World that runs the turns; without one, our own engine. */
export function clientToolsSuite(provide: ProvideWorkspace, world?: World): void {
  let workspace: Workspace;
  let caller: Client;
  let endpoint: WebhookEndpoint;
  beforeAll(async () => {
    endpoint = await startWebhookEndpoint();
    workspace = await provide();
    caller = await workspace.createCaller();
  });
  afterAll(() => endpoint?.stop());

  /** As `expect.poll`, which no hook may call. */
  const until = (check: () => Promise<void>) =>
    vi.waitFor(check, { timeout: 60_000, interval: 50 });

  const start = (script: string) => {
    workspace.model.script(script, twice);
    const here = clientAt(workspace.server.url, caller);
    const body = { prompt: `[script:${script}]`, client_tools: [play], webhook_url: endpoint.url };
    return startRun(here, body);
  };

  describe("a server that dies", () => {
    let waiting: Started;
    let resumed: Started;
    let here: Client;

    // One dies with both runs.
    beforeAll(async () => {
      here = clientAt(workspace.server.url, caller);
      waiting = await start("killed-while-waiting");
      resumed = await start("killed-after-results");
      for (const run of [waiting, resumed]) {
        await until(async () =>
          expect((await readRun(here, run)).required_action?.tool_calls).toEqual([
            { id: "play-0", name: "play", input: { isrc: "QZ1" } },
          ]),
        );
      }
      const held = await blockUpdates(workspace.env.DATABASE_URL ?? "", {
        lock: 20_261_998,
        table: "turns",
        when: `new.loads > 1 and new.run_id = '${resumed.runId}'`,
      });
      await sendResults(here, resumed, [{ id: "play-0", output: 1 }]);
      await until(async () => expect(await held.waiting()).toBeGreaterThan(0));
      await crash(workspace.server);
      await held.drop();
      here = clientAt((await workspace.startServer()).url, caller);
    });

    it("while a run waits takes nothing with it", async () => {
      const run = waiting;
      for (const step of [0, 1]) {
        const calls = await waitForCalls(here, run);
        expect(calls).toEqual([{ id: `play-${step}`, name: "play", input: { isrc: "QZ1" } }]);
        const results = [{ id: `play-${step}`, output: { played: step } }];
        expect((await sendResults(here, run, results)).status).toBe(200);
        // A call is answered before the next one is asked for.
        await expect
          .poll(async () => (await readRun(here, run)).required_action?.tool_calls[0]?.id)
          .not.toBe(`play-${step}`);
      }
      expect(await waitForRun(here, run)).toMatchObject({ status: "completed", error: null });
      const steps = workspace.model.callsOf("killed-while-waiting").map(({ step }) => step);
      expect(steps).toEqual([0, 1, 2]);

      const conversation = conversationOf(here, run);
      const stream = await conversation.resume({ runId: run.runId });
      expectCompleteTurn(await stream.ended);
      const answer = await conversation.answer();
      expect(await assemble(stream.chunks)).toEqual(answer);
      expect(answer.parts.filter(({ type }) => type === "tool-bash")).toHaveLength(2);
      expect(await workspace.readSandboxFile(run.sessionId, "effects")).toBe("run\nrun\n");

      // A delivery that a crash has cut is repeated with the same id.
      const told = () => {
        const ofRun = endpoint.received.filter(({ event }) => event.data.run_id === run.runId);
        return [...new Map(ofRun.map((one) => [one.headers["webhook-id"], one.event])).values()];
      };
      await expect.poll(told).toHaveLength(3);
      // They may overtake each other.
      expect(
        told()
          .map(({ type, data }) => `${type} ${data.status}`)
          .toSorted(),
      ).toEqual([
        "run.completed completed",
        "run.requires_action requires_action",
        "run.requires_action requires_action",
      ]);
    });

    it("in the step after the results repeats neither a tool nor a result", async () => {
      expect(await waitForCalls(here, resumed)).toMatchObject([{ id: "play-1" }]);
      await sendResults(here, resumed, [{ id: "play-1", output: 2 }]);
      expect(await waitForRun(here, resumed)).toMatchObject({ status: "completed" });
      expect(workspace.model.callsOf("killed-after-results")).toHaveLength(3);
    });
  });

  it("a run continues although the process dies that has recorded the last result", async () => {
    const here = clientAt(workspace.server.url, caller);
    const run = await start("killed-before-wake");
    await waitForCalls(here, run);
    // The writes of the endpoint, without the wake that follows.
    await workspace.sql`
    select answer_tool_calls(account_id, run_id, '[{"id": "play-0", "output": {"value": 1}}]', 0)
    from turns where run_id = ${run.runId}`;
    expect(await waitForCalls(here, run)).toMatchObject([{ id: "play-1" }]);
    await sendResults(here, run, [{ id: "play-1", output: 2 }]);
    expect(await waitForRun(here, run)).toMatchObject({ status: "completed" });
  });

  it.skipIf(world?.cannot["several processes"])(
    "two processes that send the last result at once continue the run once",
    async () => {
      const run = await start("sent-twice");
      const [one, two] = [workspace.server, await workspace.startServer()].map(({ url }) =>
        clientAt(url, caller),
      );
      if (!one || !two) throw new Error("no server");
      for (const step of [0, 1]) {
        await waitForCalls(one, run);
        const results = [{ id: `play-${step}`, output: step }];
        const answers = await Promise.all([one, two].map((by) => sendResults(by, run, results)));
        expect(answers.map(({ status }) => status)).toEqual([200, 200]);
        await expect
          .poll(async () => (await readRun(one, run)).required_action?.tool_calls[0]?.id)
          .not.toBe(`play-${step}`);
      }
      expect(await waitForRun(two, run)).toMatchObject({ status: "completed" });
      expect(workspace.model.callsOf("sent-twice")).toHaveLength(3);
    },
  );
}
