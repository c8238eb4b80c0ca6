/** Two server processes on one database and one sandbox folder. */
import { beforeAll, describe, expect, it } from "vitest";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { gate } from "../../support/fakes/openai.ts";
import { createTask } from "../../support/fixtures/tasks.ts";
import { acceptedOf, createTrigger, sendEvent } from "../../support/fixtures/triggers.ts";
import type { Client } from "../../support/harness/clients.ts";
import { openConversation } from "../../support/harness/conversation.ts";
import { assemble, expectCompleteTurn } from "../../support/harness/turn-stream.ts";
import { clientAt, crash, type Workspace } from "../../support/harness/workspace.ts";
import type { World } from "../../support/harness/worlds.ts";
import { EFFECTS, effectsOf, expectSurvived, holdTurns, type Place } from "../six-steps.ts";
import { type ProvideWorkspace, twoServers } from "./provide-workspace.ts";

/** @param world the World that runs the turns, in fewer rounds; without one, our own engine. */
export function twoServersSuite(provide: ProvideWorkspace, world?: World): void {
  let workspace: Workspace;
  let one: RunningNext;
  let other: RunningNext;
  let caller: Client;
  beforeAll(async () => {
    workspace = await provide();
    [one, other] = await twoServers(workspace);
    caller = await workspace.createCaller(one.url);
  });

  it("an event that both servers receive at once is one run", async () => {
    workspace.model.script("event", async function* () {
      yield { text: "done" };
    });
    const { id } = await createTask(caller, { prompt: "[script:event]" });
    const trigger = await createTrigger(caller, {}, id);
    const headers = { "webhook-id": "msg_1" };
    const answers = await Promise.all(
      [one, other, one, other].map(({ url }) =>
        acceptedOf(sendEvent(trigger, { release: 1 }, headers, url)),
      ),
    );
    expect(new Set(answers.map(({ run_id }) => run_id)).size).toBe(1);
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    const turns = await workspace.sql`select run_id from turns where kind = 'task'`;
    expect([...turns]).toEqual([{ run_id: answers[0]?.run_id }]);
  });

  describe("a turn that one server runs", () => {
    it("is read, as it comes, through the other, which also finds it for a retry", async () => {
      const held = gate();
      workspace.model.script("elsewhere", async function* () {
        yield { text: "first" };
        await held.pass();
        yield { text: " second" };
      });
      const conversation = await openConversation(caller);
      const elsewhere = conversation.through(clientAt(other.url, caller));
      const message = [{ id: "m1", content: "[script:elsewhere]" }];
      const first = await conversation.send(message);
      await first.until((chunk) => chunk.type === "text-delta");
      const [resumed, retried, refused] = await Promise.all([
        elsewhere.resume({ startIndex: 1 }),
        elsewhere.send(message),
        elsewhere.send("something else"),
      ]);
      expect(retried.runId).toBe(first.runId);
      expect(refused.status).toBe(409);
      expect(refused.runId).toBe(first.runId);
      await resumed.until((chunk) => chunk.type === "text-delta");
      held.open();
      const whole = await first.ended;
      expectCompleteTurn(whole);
      expect(await retried.ended).toEqual(whole);
      expect(await resumed.ended).toEqual(whole.slice(1));
      expect(resumed.isDone && retried.isDone).toBe(true);
      expect(await elsewhere.answer()).toEqual(await assemble(first.chunks));
    });

    it("is stopped through the other", async () => {
      workspace.model.script("stop-elsewhere", async function* () {
        yield { text: "first" };
        yield { hang: true };
      });
      const conversation = await openConversation(caller);
      const stream = await conversation.send("[script:stop-elsewhere]");
      await stream.until((chunk) => chunk.type === "text-delta");
      const answer = await conversation.through(clientAt(other.url, caller)).stop();
      expect(answer.body).toEqual({ status: "success", stopped: true });
      await stream.ended;
      expect(stream.isDone).toBe(true);
      expect((await conversation.read()).isStreaming).toBe(false);
      expect(await conversation.answer()).toEqual(await assemble(stream.chunks));
    });
  });

  describe.skipIf(world?.cannot.takeover)("when the server that runs them is killed", () => {
    it("the other takes its turns over, and a stop ends one that nobody has taken over yet", async () => {
      const last = gate();
      const places: Place[] = [
        { step: 0, where: "before" },
        { step: 2, where: "text" },
        { step: 4, where: "input" },
        { step: 3, where: "command" },
        { step: 5, where: "called" },
      ];
      const held = await holdTurns(workspace, caller, "orphan", places, last);
      const turns = await Promise.all(
        held.map(async (turn) => {
          const survivor = turn.conversation.through(clientAt(other.url, caller));
          return { ...turn, conversation: survivor, reader: await survivor.resume() };
        }),
      );
      workspace.model.script("stop-orphan", async function* () {
        yield { text: "half" };
        yield { hang: true };
      });
      const hanging = await openConversation(caller);
      const first = await hanging.send("[script:stop-orphan]");
      await first.until((chunk) => chunk.type === "text-delta");
      const stoppable = hanging.through(clientAt(other.url, caller));
      const stopped = await stoppable.resume();

      await crash(one);
      expect((await stoppable.stop()).body).toEqual({ status: "success", stopped: true });
      expectCompleteTurn(await stopped.ended);
      expect(await assemble(stopped.chunks)).toEqual(await stoppable.answer());
      expect(await stoppable.answer()).toMatchObject({ metadata: { finishReason: "interrupted" } });
      expect((await stoppable.read()).isStreaming).toBe(false);

      for (const { pause } of turns) pause.gate.open();
      last.open();
      for (const { script, pause, conversation, stream, reader } of turns) {
        // A reader at the other server sees the turn go on to the end.
        const whole = await reader.ended;
        expect(reader.isDone, pause.where).toBe(true);
        expectCompleteTurn(whole);
        const before = await stream.ended;
        expect(whole.slice(0, before.length)).toEqual(before);
        await expectSurvived(workspace, { conversation, before: [], after: whole });
        const effects = await effectsOf(workspace, conversation, script);
        expect(effects, pause.where).toEqual(EFFECTS);
      }
      // The chat is free at both servers.
      const next = await turns[0]?.conversation.send("and now?");
      await next?.ended;
      expect(next?.isDone).toBe(true);
    }, 120_000);
  });
}
