/**
 * POST /api/chat/{chatId}/stop ends a turn that would hang forever, and keeps its answer so far.
 * `npm run bench -- stop` measures the delay.
 */
import type { UIMessage } from "ai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gate, type Script } from "../../support/fakes/openai.ts";
import type { Client } from "../../support/harness/clients.ts";
import { type Conversation, openConversation } from "../../support/harness/conversation.ts";
import { joinWorkspace, type SharedWorkspace } from "../../support/harness/shared-workspace.ts";
import {
  assemble,
  expectCompleteTurn,
  type TurnStream,
  textOf,
} from "../../support/harness/turn-stream.ts";
import { startWorkspace } from "../../support/harness/workspace.ts";
import type { World } from "../../support/harness/worlds.ts";

/** @param world the World that runs the turns, in fewer rounds; without one, our own engine. */
export function stopSuite(world?: World): void {
  let workspace: SharedWorkspace;
  let caller: Client;
  beforeAll(async () => {
    workspace = world ? await startWorkspace({}, world) : await joinWorkspace();
    caller = await workspace.createCaller();
  });
  afterAll(() => workspace.stop());

  const start = async (
    name: string,
    script: Script,
  ): Promise<{ conversation: Conversation; stream: TurnStream }> => {
    workspace.model.script(name, script);
    const conversation = await openConversation(caller);
    return { conversation, stream: await conversation.send(`[script:${name}]`) };
  };

  /** Stops, and proves what every stop promises. @returns the stored message. */
  async function stopNow({
    conversation,
    stream,
  }: {
    conversation: Conversation;
    stream: TurnStream;
  }): Promise<UIMessage> {
    const [answer] = await Promise.all([conversation.stop(), stream.ended]);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ status: "success", stopped: true });
    expect(stream.isDone).toBe(true);
    expectCompleteTurn(stream.frames);
    expect(stream.chunks.at(-1)).toMatchObject({ type: "finish", finishReason: "interrupted" });
    const { isStreaming, chat } = await conversation.read();
    expect(isStreaming).toBe(false);
    expect(chat.activeStreamId).toBeNull();
    expect(chat.lastAssistantMessageAt).not.toBeNull();
    const stored = await conversation.answer();
    expect(await assemble(stream.chunks)).toEqual(stored);
    expect(stored.metadata).toMatchObject({ finishReason: "interrupted" });
    for (const part of stored.parts) {
      if ("state" in part)
        expect(["done", "output-available", "output-error"]).toContain(part.state);
    }
    const [key] = await workspace.sql`
    select k.revoked_at from api_keys k join turns t on t.key_id = k.id
    where t.chat_id = ${conversation.chatId} order by t.created_at desc limit 1`;
    expect(key?.revoked_at).toBeInstanceOf(Date);
    return stored;
  }

  describe("stopped", () => {
    it("before the model's first word: an empty answer is stored", async () => {
      const held = gate();
      const turn = await start("stop-silent", async function* () {
        await held.pass();
        yield { text: "never" };
      });
      await held.reached;
      const stored = await stopNow(turn);
      expect(textOf(stored)).toBe("");
      expect(workspace.model.callsOf("stop-silent")[0]?.outcome).toBe("abandoned");
    });

    it("at the first word, and in a text: what came is kept", async () => {
      for (const count of [1, 40]) {
        const turn = await start(`stop-text-${count}`, async function* () {
          for (let n = 0; n < count; n++) yield { text: `${n} ` };
          yield { hang: true };
        });
        await turn.stream.until(
          (chunk) => chunk.type === "text-delta" && chunk.delta === `${count - 1} `,
        );
        const stored = await stopNow(turn);
        expect(textOf(stored)).toBe(Array.from({ length: count }, (_, n) => `${n} `).join(""));
      }
    });

    it("in a call's input: the call is closed as an error", async () => {
      const held = gate();
      const turn = await start("stop-input", async function* () {
        yield {
          tool: "bash",
          input: { command: "echo never" },
          pieces: 2,
          between: () => held.pass(),
        };
      });
      await turn.stream.until((chunk) => chunk.type === "tool-input-delta");
      const stored = await stopNow(turn);
      expect(stored.parts.at(-1)).toMatchObject({ type: "tool-bash", state: "output-error" });
    });

    it("in a command, which ends: its call is closed as an error", async () => {
      const turn = await start("stop-command", function* () {
        yield {
          tool: "bash",
          input: { command: "echo begun > begun; while true; do sleep 0.05; done" },
        };
        yield { tool: "todo", input: { todos: [] } };
      });
      await expect
        .poll(() => workspace.readSandboxFile(turn.conversation.sessionId, "begun"), {
          timeout: 120_000,
          interval: 20,
        })
        .toBe("begun\n");
      const stored = await stopNow(turn);
      expect(stored.parts).toContainEqual(
        expect.objectContaining({ type: "tool-bash", state: "output-error", errorText: "Stopped" }),
      );
      // The model is not asked again, and the next turn finds a conversation it can go on with.
      expect(workspace.model.callsOf("stop-command")).toHaveLength(1);
      const next = await turn.conversation.send("go on");
      await next.ended;
      expect(textOf(await turn.conversation.answer())).toBe("You said: go on");
    });

    it("at the very moment between a model call and its tools, again and again", async () => {
      // Each of these is followed by work that a lost stop would go on with.
      const moments = [
        "start",
        "start-step",
        "tool-input-start",
        "tool-input-available",
        "tool-output-available",
        "finish-step",
      ];
      workspace.model.script("stop-between", async function* ({ step }) {
        if (step < 2) yield { tool: "todo", input: { todos: [] } };
        else yield { hang: true };
      });
      for (let round = 0; round < (world ? 1 : 2); round++) {
        await Promise.all(
          moments.map(async (moment) => {
            const conversation = await openConversation(caller);
            const stream = await conversation.send("[script:stop-between]");
            await stream.until((chunk) => chunk.type === moment);
            await stopNow({ conversation, stream });
          }),
        );
      }
    }, 120_000);

    it("twice at once, and again afterwards: once effective, then nothing to stop", async () => {
      const turn = await start("stop-twice", async function* () {
        yield { text: "half" };
        yield { hang: true };
      });
      await turn.stream.until((chunk) => chunk.type === "text-delta");
      const [first, second] = await Promise.all([
        turn.conversation.stop(),
        turn.conversation.stop(),
      ]);
      expect([first.status, second.status]).toEqual([200, 200]);
      await turn.stream.ended;
      expectCompleteTurn(turn.stream.frames);
      const stored = await turn.conversation.answer();
      const third = await turn.conversation.stop();
      expect(third.body).toEqual({ status: "success", stopped: false });
      expect(await turn.conversation.answer()).toEqual(stored);
    });

    it("after the end: nothing changes", async () => {
      const turn = await start("stop-ended", function* () {
        yield { text: "whole" };
      });
      await turn.stream.ended;
      const before = await turn.conversation.read();
      expect((await turn.conversation.stop()).body).toEqual({ status: "success", stopped: false });
      expect(await turn.conversation.read()).toEqual(before);
    });

    it("as the end comes: the answer is whole or partial, and stored as it was streamed", async () => {
      for (let round = 0; round < 10; round++) {
        const turn = await start(`stop-race-${round}`, function* () {
          yield { text: "a" };
          yield { text: "b" };
        });
        await turn.stream.until((chunk) => chunk.type === "text-start");
        const answer = await turn.conversation.stop();
        await turn.stream.ended;
        expect(answer.status).toBe(200);
        expectCompleteTurn(turn.stream.frames);
        expect(await assemble(turn.stream.chunks)).toEqual(await turn.conversation.answer());
        expect((await turn.conversation.read()).isStreaming).toBe(false);
      }
    });
  });

  describe("a newer turn", () => {
    it("is never touched by a stop that was meant for the one before", async () => {
      for (let round = 0; round < 8; round++) {
        const turn = await start(`stop-older-${round}`, async function* () {
          yield { text: "old" };
          yield { hang: true };
        });
        await turn.stream.until((chunk) => chunk.type === "text-delta");
        const stopping = turn.conversation.stop();
        await turn.stream.until((chunk) => chunk.type === "finish");
        // Sent while the stop may still be being answered.
        const next = await turn.conversation.send(`newer ${round}`);
        expect(next.status).toBe(200);
        expect((await stopping).body).toEqual({ status: "success", stopped: true });
        await next.ended;
        expectCompleteTurn(next.frames);
        expect(textOf(await turn.conversation.answer())).toBe(`You said: newer ${round}`);
      }
    });
  });
}
