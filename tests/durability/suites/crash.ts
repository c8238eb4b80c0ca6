/** kill -9 of the server in a six-step turn; the same database and folder; a new server. */
import { beforeAll, describe, expect, it } from "vitest";
import { gate } from "../../support/fakes/openai.ts";
import type { Client } from "../../support/harness/clients.ts";
import { type Conversation, openConversation } from "../../support/harness/conversation.ts";
import {
  assemble,
  expectCompleteTurn,
  type Frame,
  type TurnStream,
} from "../../support/harness/turn-stream.ts";
import { clientAt, crash, type Workspace } from "../../support/harness/workspace.ts";
import type { World } from "../../support/harness/worlds.ts";
import {
  EFFECTS,
  effectsOf,
  expectSurvived,
  holdTurns,
  logOf,
  openChats,
  type Place,
  STEPS,
  sixSteps,
} from "../six-steps.ts";
import type { ProvideWorkspace } from "./provide-workspace.ts";

/** @param world the World that runs the turns, in fewer rounds; without one, our own engine. */
export function crashSuite(provide: ProvideWorkspace, world?: World): void {
  let workspace: Workspace;
  let caller: Client;
  beforeAll(async () => {
    workspace = await provide();
    caller = await workspace.createCaller();
  });

  interface Restarted {
    readonly conversation: Conversation;
    readonly before: readonly Frame[];
    readonly rest: TurnStream;
  }

  /** Restarts, and continues to read where each of the clients was cut. */
  async function restart(
    cut: readonly { conversation: Conversation; stream: TurnStream }[],
  ): Promise<Restarted[]> {
    await crash(workspace.server);
    const before = await Promise.all(cut.map(({ stream }) => stream.ended));
    const { url } = await workspace.startServer();
    return Promise.all(
      cut.map(async ({ conversation }, n) => {
        const frames = before[n] ?? [];
        const back = conversation.through(clientAt(url, caller));
        const last = frames.at(-1)?.id;
        return {
          conversation: back,
          before: frames,
          rest: await back.resume(last === undefined ? {} : { lastEventId: last }),
        };
      }),
    );
  }

  /** Starts a turn of which one of the two commands of a step is done, and the other runs. */
  async function startPair() {
    const held = gate();
    workspace.model.script("pair", async function* ({ step }) {
      if (step === 0) {
        yield { tool: "bash", id: "quick", input: { command: "echo quick | tee -a effects" } };
        yield {
          tool: "bash",
          id: "slow",
          input: { command: "echo slow >> effects; while [ ! -e go ]; do sleep 0.05; done" },
        };
      } else {
        await held.pass();
        yield { text: "seen" };
      }
    });
    const conversation = await openConversation(caller);
    const stream = await conversation.send("[script:pair]");
    await stream.until((chunk) => chunk.type === "tool-output-available");
    await expect
      .poll(() => effectsOf(workspace, conversation), { timeout: 120_000, interval: 20 })
      .toContain("slow");
    return {
      conversation,
      stream,
      /** One result was kept, and the model was informed about the other. */
      async expectTold(back: Restarted | undefined) {
        held.open();
        await back?.rest.ended;
        const whole = await logOf(workspace, conversation);
        expectCompleteTurn(whole);
        expect([...(back?.before ?? []), ...(back?.rest.frames ?? [])]).toEqual(whole);
        const stored = await back?.conversation.answer();
        expect(await assemble(whole.map((frame) => frame.chunk))).toEqual(stored);
        const calls = stored?.parts.filter((part) => part.type === "tool-bash");
        expect(calls).toMatchObject([
          { toolCallId: "quick", output: { stdout: "quick\n" } },
          { toolCallId: "slow", output: { error: expect.stringContaining("outcome is unknown") } },
        ]);
        expect(await effectsOf(workspace, conversation)).toEqual(["quick", "slow"]);
        const received = workspace.model.callsOf("pair").at(-1)?.toolResults ?? [];
        expect(received[0]).toContain("quick");
        expect(received[1]).toContain("outcome is unknown");
      },
    };
  }

  describe("a server that is killed while its turns stand at", () => {
    const places: Record<string, Place> = {
      "the first model call, before its first word": { step: 0, where: "before" },
      "the first word": { step: 0, where: "text" },
      "the first call's input": { step: 0, where: "input" },
      "the first command": { step: 0, where: "command" },
      "a later model call, before its first word": { step: 2, where: "before" },
      "a later text": { step: 3, where: "text" },
      "a later call's input": { step: 4, where: "input" },
      "the end of a call, before it runs": { step: 5, where: "called" },
      "a later command": { step: 5, where: "command" },
      "the last answer": { step: STEPS, where: "text" },
    };

    const names = Object.keys(places);
    it(`${names.join("; ")}; one of two commands of a step: all go on by themselves, exactly`, async () => {
      const last = gate();
      const turns = await holdTurns(workspace, caller, "pause", Object.values(places), last);
      for (const { pause, stream } of turns) {
        // The text before the pause has reached the client.
        const texts = pause.where === "before" ? pause.step * 2 : pause.step * 2 + 1;
        if (texts === 0) continue;
        let seen = 0;
        await stream.until((chunk) => chunk.type === "text-delta" && ++seen === texts);
      }

      const pair = await startPair();
      const [ofPair, ...back] = await restart([pair, ...turns]);
      for (const { pause } of turns) pause.gate.open();
      last.open();
      for (const [n, { conversation, before, rest }] of back.entries()) {
        const turn = turns[n];
        if (!turn) throw new Error("no such turn");
        const { script, pause, stream } = turn;
        const what = names[n];
        expect(rest.status, what).toBe(200);
        expect(rest.runId, what).toBe(stream.runId);
        const after = await rest.ended;
        expect(rest.isDone, what).toBe(true);
        const { stored, whole } = await expectSurvived(workspace, { conversation, before, after });
        expect(whole.length, what).toBe(before.length + after.length);
        expect(await effectsOf(workspace, conversation, script), what).toEqual(EFFECTS);

        const outputs = stored.parts.flatMap((part) =>
          part.type === "tool-bash" ? [JSON.stringify(part)] : [],
        );
        const unknown = outputs.filter((output) => output.includes("outcome is unknown"));
        expect(unknown, what).toHaveLength(pause.where === "command" ? 1 : 0);
        if (pause.where === "command") {
          // The model was informed in the very next call, and continued.
          const received = workspace.model
            .callsOf(script)
            .filter((call) => call.toolResults.some((text) => text.includes("outcome is unknown")));
          expect(received[0]?.step, what).toBe(pause.step + 1);
        }
      }
      await pair.expectTold(ofPair);
    }, 180_000);
  });

  describe("a server that is killed the moment a client sees", () => {
    const moments: Record<string, (frame: Frame, seen: readonly Frame[]) => boolean> = {
      "the start": ({ chunk }) => chunk.type === "start",
      "a call to run": ({ chunk }, seen) =>
        chunk.type === "tool-input-available" && count(seen, chunk.type) === 3,
      "a tool's output": ({ chunk }, seen) =>
        chunk.type === "tool-output-available" && count(seen, chunk.type) === 6,
      "the end": ({ chunk }) => chunk.type === "finish",
    };
    const count = (frames: readonly Frame[], type: string) =>
      frames.filter(({ chunk }) => chunk.type === type).length;

    // Turns that stand between two steps are among those above, and the simulation kills at any moment.
    const isSoak = process.env.SOAK === "1";
    const ours = isSoak ? Object.keys(moments) : ["the end"];
    it.each(world ? ["a call to run"] : ours)(
      "%s: no step is lost or run twice",
      async (moment) => {
        const name = `moment-${moment.replaceAll(/\W/g, "-")}`;
        const last = gate();
        if (moment === "the end") last.open();
        caller = clientAt(workspace.server.url, caller);
        // The others are wherever they happen to be.
        const turns = await Promise.all(
          (await openChats(caller, 4)).map(async (conversation, n) => {
            workspace.model.script(`${name}-${n}`, sixSteps(null, last, `${name}-${n}`));
            return { conversation, stream: await conversation.send(`[script:${name}-${n}]`) };
          }),
        );
        const seen: Frame[] = [];
        await turns[0]?.stream.until((_, frame) => {
          seen.push(frame);
          return moments[moment]?.(frame, seen) ?? false;
        });
        const back = await restart(turns);
        last.open();
        for (const [n, { conversation, before, rest }] of back.entries()) {
          const after = await rest.ended;
          // It may have been over, or have ended, before anybody could ask for the rest.
          if (moment !== "the end") expect(rest.status).toBe(200);
          await expectSurvived(workspace, { conversation, before, after });
          const effects = await effectsOf(workspace, conversation, `${name}-${n}`);
          expect(new Set(effects).size).toBe(effects.length);
          const unknown = (await conversation.answer()).parts.filter((part) =>
            JSON.stringify(part).includes("outcome is unknown"),
          );
          // Missing effects belong to interrupted calls, which report that.
          expect(unknown.length).toBeGreaterThanOrEqual(STEPS - effects.length);
          expect(unknown.length).toBeLessThanOrEqual(1);
        }
      },
      120_000,
    );
  });
}
