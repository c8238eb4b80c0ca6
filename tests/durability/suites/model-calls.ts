/** The model calls of a turn: how many, which starts before the run, and which ends before its answer does. */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { gate } from "../../support/fakes/openai.ts";
import { openConversation } from "../../support/harness/conversation.ts";
import { startRun, waitForRun } from "../../support/harness/runs.ts";
import { assemble, expectCompleteTurn } from "../../support/harness/turn-stream.ts";
import type { Workspace } from "../../support/harness/workspace.ts";
import type { ProvideWorkspace } from "./provide-workspace.ts";

export function modelCallsSuite(provide: ProvideWorkspace): void {
  let workspace: Workspace;
  beforeAll(async () => {
    workspace = await provide();
  });

  const MAX_MODEL_CALLS = 100;

  it("a turn whose model calls tools for ever ends after a hundred calls", async () => {
    workspace.model.script("endless", function* ({ step }) {
      yield {
        tool: "todo",
        input: { todos: [{ id: "1", content: `item ${step}`, status: "pending" }] },
      };
    });
    const conversation = await openConversation(await workspace.createCaller());
    const stream = await conversation.send("[script:endless]");
    await stream.ended;
    expect(stream.isDone).toBe(true);
    expectCompleteTurn(stream.frames);
    expect(workspace.model.callsOf("endless").map((call) => call.step)).toEqual(
      Array.from({ length: MAX_MODEL_CALLS }, (_, step) => step),
    );
    expect(stream.chunks.at(-2)).toEqual({
      type: "error",
      errorText: "The turn reached its limit of model calls",
    });
    const stored = await conversation.answer();
    expect(await assemble(stream.chunks)).toEqual(stored);
    const states = stored.parts.flatMap((part) => ("state" in part ? [part.state] : []));
    // The tools of the last answer are not run.
    expect(states).toEqual([
      ...Array.from({ length: MAX_MODEL_CALLS - 1 }, () => "output-available"),
      "output-error",
    ]);
  });

  it("a run whose hundredth call submits its output completes, and fails if that is not valid", async () => {
    const caller = await workspace.createCaller();
    for (const [name, n, status] of [
      ["last-chance", 1, "completed"],
      ["last-fault", "one", "failed"],
    ] as const) {
      workspace.model.script(name, function* ({ step }) {
        if (step === MAX_MODEL_CALLS - 1) yield { tool: "submit_output", input: { n } };
        else yield { tool: "todo", input: { todos: [] } };
      });
      const started = await startRun(caller, {
        prompt: `[script:${name}]`,
        output_schema: { type: "object", properties: { n: { type: "integer" } } },
      });
      const ended = await waitForRun(caller, started);
      expect([ended.status, ended.output]).toEqual([status, status === "completed" ? { n } : null]);
      expect(workspace.model.callsOf(name)).toHaveLength(MAX_MODEL_CALLS);
    }
  });

  it("a process whose run belongs to another one ends its model call, which would keep its slot for ever", async () => {
    const held = gate();
    workspace.model.script("lost", async function* () {
      yield { text: "first" };
      await held.pass();
      for (;;) {
        yield { text: "more" };
        await delay(10);
      }
    });
    const conversation = await openConversation(await workspace.createCaller());
    const stream = await conversation.send("[script:lost]");
    await stream.until(({ type }) => type === "text-delta");
    await workspace.sql`
    update engine.runs set owner = ${randomUUID()} where run_id = ${stream.runId}`;
    held.open();
    await expect.poll(() => workspace.model.callsOf("lost")[0]?.outcome).toBe("abandoned");
    const { frames } = stream;
    expect(frames.filter(({ chunk }) => chunk.type === "text-delta")).toHaveLength(1);
    stream.leave();
  });

  describe("the first model call", () => {
    /** Keeps runs from being created while `work` runs. */
    const withoutRuns = (work: () => Promise<void>) =>
      workspace.sql.begin(async (transaction) => {
        await transaction`lock table engine.runs in exclusive mode`;
        await work();
      });

    it("does not wait for the run, whose first step streams it", async () => {
      workspace.model.script("early", function* () {
        yield { text: "Early" };
      });
      const conversation = await openConversation(await workspace.createCaller());
      let stream: ReturnType<typeof conversation.send> | undefined;
      await withoutRuns(async () => {
        stream = conversation.send("[script:early]");
        await expect.poll(() => workspace.model.callsOf("early")).toHaveLength(1);
        expect((await conversation.read()).chat.activeStreamId).toMatch(/^pending:/);
      });
      const answered = await stream;
      await answered?.ended;
      expectCompleteTurn(answered?.frames ?? []);
      expect(await conversation.answer()).toMatchObject({ parts: [{}, { text: "Early" }] });
      expect(workspace.model.callsOf("early")).toHaveLength(1);
    });

    it("is cancelled and counted when the turn is stopped before its first step", async () => {
      workspace.model.script("endless-text", function* () {
        yield { text: "On and on" };
        yield { hang: true };
      });
      const caller = await workspace.createCaller();
      const conversation = await openConversation(caller);
      let stream: ReturnType<typeof conversation.send> | undefined;
      let stop: Promise<unknown> | undefined;
      await withoutRuns(async () => {
        stream = conversation.send("[script:endless-text]");
        await expect.poll(() => workspace.model.callsOf("endless-text")).toHaveLength(1);
        stop = caller.post(`/api/chat/${conversation.chatId}/stop`, {});
      });
      await stop;
      await (await stream)?.ended;
      expect(workspace.model.callsOf("endless-text")).toHaveLength(1);
      const usage = await caller.get("/api/usage");
      expect(usage.body).toMatchObject({ totals: { runs: 1, steps: 1 } });
    });
  });
}
