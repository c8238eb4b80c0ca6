/** `runStep` against a database, without a server: each test takes the steps of its turn itself. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseChunks, readProgress } from "../../lib/running-turn/read-chunks.ts";
import { type RunningTurn, Step } from "../../lib/running-turn/step.ts";
import { isWaiting, loadTurn } from "../../lib/turns/store/turns.ts";
import { runStep } from "../../lib/turns/turn-step.ts";
import { gate, type Script } from "../support/fakes/openai.ts";
import { client_tools } from "../support/fixtures/client-tools.ts";
import { createTestApp, type TestApp } from "../support/harness/test-app.ts";

let service: TestApp;
beforeAll(async () => {
  service = await createTestApp();
});
afterAll(() => service.stop());

/** Starts a run whose model follows the script. */
async function start(name: string, script: Script, more: object = {}) {
  service.model.script(name, script);
  const given = { prompt: `[script:${name}]` };
  const run = await service.startRun(await service.createCaller(), { given, ...more });
  const { turnId, runId } = run;
  const { app, sql } = service;
  return {
    turnId,
    /** Loads the turn as a process does that takes it over. */
    async load(attempt = 1): Promise<RunningTurn> {
      const turn = await loadTurn(app.db, turnId, runId);
      if (turn.outcome !== "active") throw new Error(`The turn is ${turn.outcome}`);
      const log = await app.engine.openLog(turnId, runId, false);
      return { turn, steps: turn.steps, log, mayRepeat: attempt > 1 };
    },
    /** Takes the next step of the turn, which ends after one model call. */
    async take(current: RunningTurn, attempt = 1) {
      const at = { turnId, runId, index: current.steps.length, attempt, isFirst: false };
      const chunks = await parseChunks(current.log.committed());
      const progress = current.mayRepeat ? readProgress(chunks) : undefined;
      const { signal } = new AbortController();
      return runStep(new Step(app, { ...at, maxModelCalls: 9 }, current, progress, signal, 0));
    },
    async row() {
      const [row] = await sql`select status, error from turns where id = ${turnId}`;
      return row;
    },
    /** The types of the chunks that readers have got, up to the first one of type `last` if it is named. */
    async chunks(last?: string) {
      const types: string[] = [];
      const read = app.engine.read({ turnId, runId }, 0, AbortSignal.timeout(2_000));
      for await (const { chunks } of read) {
        types.push(...chunks.map((one) => JSON.parse(one).type));
        if (last !== undefined && types.includes(last)) break;
      }
      return types;
    },
  };
}

describe("a step", () => {
  test("ends the turn with an answer that calls no tool", async () => {
    const turn = await start("core-ends", () => [{ text: "Hello" }]);
    expect(await turn.take(await turn.load())).toBeNull();
    expect(await turn.row()).toMatchObject({ status: "completed", error: null });
    expect((await turn.chunks()).at(-1)).toBe("finish");
  });

  test("continues after a tool call, whose tool runs in the next step", async () => {
    const turn = await start("core-continues", ({ step }) => [
      step === 0 ? { tool: "bash", input: { command: "echo 1" } } : { text: "Done" },
    ]);
    const next = await turn.take(await turn.load());
    if (next === null || next === "waiting") throw new Error("The turn has no next step");
    expect(next.steps).toHaveLength(1);
    expect(await turn.row()).toMatchObject({ status: "running" });
    expect(await turn.take(next)).toBeNull();
    expect(await turn.row()).toMatchObject({ status: "completed" });
  });

  test("waits for the client whose tool is called, and holds nothing", async () => {
    const calls: Script = () => [{ tool: "look_up_track", id: "c1", input: { isrc: "QZ1" } }];
    const turn = await start("core-waits", calls, { client_tools });
    const next = await turn.take(await turn.load());
    if (next === null || next === "waiting") throw new Error("The turn has no next step");
    expect(await turn.take(next)).toBe("waiting");
    expect(await isWaiting(service.app.db, turn.turnId)).toBe(true);
    expect((await turn.chunks()).at(-1)).not.toBe("finish");
  });

  test("is repeated after a crash in mid-answer: its tool has run once, and only the new answer is stored", async () => {
    const held = gate();
    let answers = 0;
    const turn = await start("core-repeats", async function* ({ step, toolResults }) {
      if (step === 0) yield { tool: "bash", input: { command: "echo once >> times; cat times" } };
      else {
        answers += 1;
        yield { text: "Seen: " };
        if (answers === 1) await held.pass();
        yield { text: toolResults.join() };
      }
    });
    const next = await turn.take(await turn.load());
    if (next === null || next === "waiting") throw new Error("The turn has no next step");
    const lost = turn.take(next).catch((error: unknown) => error);
    await held.reached;
    expect(await turn.chunks("text-delta")).toContain("text-delta");
    expect(await turn.take(await turn.load(2), 2)).toBeNull();
    held.open();
    expect(await lost).toBeInstanceOf(Error);
    expect(await turn.row()).toMatchObject({ status: "completed" });
    const types = await turn.chunks();
    expect(types.filter((type) => type === "reset-step")).toHaveLength(1);
    expect(types.filter((type) => type === "finish")).toHaveLength(1);
    expect(service.model.calls.at(-1)?.toolResults.join().match(/once/g)).toHaveLength(1);
  });
});
