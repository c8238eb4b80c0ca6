/** A stream is exact for every reader, from every index on. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Gate, gate } from "../../support/fakes/openai.ts";
import type { Client } from "../../support/harness/clients.ts";
import {
  type Conversation,
  openChat,
  openConversation,
} from "../../support/harness/conversation.ts";
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
export function resumeSuite(world?: World): void {
  let workspace: SharedWorkspace;
  let caller: Client;
  beforeAll(async () => {
    workspace = world ? await startWorkspace({}, world) : await joinWorkspace();
    caller = await workspace.createCaller();
  });
  afterAll(() => workspace.stop());

  /** Two tool calls, one of them in pieces, reasoning and text; then it waits at the gate. */
  function scriptHeld(name: string): Gate {
    const held = gate();
    workspace.model.script(name, async function* ({ step }) {
      yield { text: `Step ${step}: ` };
      yield { text: "a word, and “another”\n\n— 𝄞" };
      if (step === 0) yield { tool: "todo", input: { todos: [] }, pieces: 4 };
      if (step === 1) {
        yield { reasoning: "Two at once?" };
        yield { tool: "write", input: { filePath: "a.txt", content: "a\n\nb" } };
        yield { tool: "bash", input: { command: "printf 'x\\n\\ny\\r\\n'" } };
        yield { tool: "todo", input: { todos: [{ id: "1", content: "one", status: "pending" }] } };
      }
      if (step === 2) {
        yield { text: "nearly" };
        await held.pass();
        yield { text: " done" };
      }
    });
    return held;
  }

  /** Starts the turn and reads it up to the gate, where it keeps running. */
  async function startHeld(
    name: string,
  ): Promise<{ held: Gate; conversation: Conversation; first: TurnStream }> {
    const held = scriptHeld(name);
    const conversation = await openConversation(caller);
    const first = await conversation.send(`[script:${name}]`);
    await first.until((chunk) => chunk.type === "text-delta" && chunk.delta === "nearly");
    return { held, conversation, first };
  }

  describe("a turn with text and tools", () => {
    it("is, for every k, its first k chunks and the resumed rest, each once", async () => {
      const { held, conversation, first } = await startHeld("resume-every-k");
      const seen = first.frames.length;
      expect(seen).toBeGreaterThan(20);
      const ks = Array.from({ length: seen + 1 }, (_, k) => k);
      const byIndex = await Promise.all(ks.map((k) => conversation.resume({ startIndex: k })));
      const byEvent = await Promise.all(
        ks.slice(1).map((k) => conversation.resume({ lastEventId: k - 1 })),
      );
      held.open();
      const whole = await first.ended;
      expectCompleteTurn(whole);
      expect(first.isDone).toBe(true);
      expect(whole.length).toBeGreaterThan(seen);

      for (const [k, rest] of byIndex.entries()) {
        expect([...whole.slice(0, k), ...(await rest.ended)], `startIndex=${k}`).toEqual(whole);
        expect(rest.isDone).toBe(true);
        expect(rest.runId).toBe(first.runId);
        expect(Number(rest.headers.get("x-workflow-stream-tail-index"))).toBe(seen - 1);
      }
      for (const [index, rest] of byEvent.entries()) {
        const k = index + 1;
        expect([...whole.slice(0, k), ...(await rest.ended)], `Last-Event-ID: ${k - 1}`).toEqual(
          whole,
        );
      }
      expect(await assemble(first.chunks)).toEqual(await conversation.answer());
    });

    it("reads the same to 50 readers that join at any moment", async () => {
      const count = 600;
      const held = gate();
      workspace.model.script("resume-crowd", async function* () {
        for (let n = 0; n < count; n++) {
          // Lets others run, as a model that takes its time does.
          if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
          yield { text: `${n} ` };
          if (n === count - 2) await held.pass();
        }
      });
      const conversation = await openConversation(caller);
      const first = await conversation.send("[script:resume-crowd]");
      const readers = await Promise.all(
        Array.from({ length: 50 }, async (_, n) => {
          await first.until((chunk, { id }) => chunk.type === "text-delta" && id >= n * 11);
          return conversation.resume({ startIndex: n % 2 === 0 ? 0 : n });
        }),
      );
      held.open();
      const whole = await first.ended;
      expectCompleteTurn(whole);
      for (const [n, reader] of readers.entries()) {
        expect(await reader.ended).toEqual(n % 2 === 0 ? whole : whole.slice(n));
      }
    });

    it("has nothing to resume once it is over, and its message is whole by then", async () => {
      const { held, conversation, first } = await startHeld("resume-over");
      held.open();
      await first.until((chunk) => chunk.type === "finish");
      const [rest, view] = await Promise.all([conversation.resume(), conversation.read()]);
      expect(rest.status).toBe(204);
      expect(view.isStreaming).toBe(false);
      expect(view.chat.activeStreamId).toBeNull();
      expect(view.chat.lastAssistantMessageAt).not.toBeNull();
      expect(await assemble(first.chunks)).toEqual(await conversation.answer());
    });
  });

  describe("a client that goes away", () => {
    it("changes nothing, at whichever chunk it does", async () => {
      scriptHeld("resume-deserted").open();
      const conversation = await openConversation(caller);
      const patient = await conversation.send("[script:resume-deserted]");
      const total = (await patient.ended).length;
      const chats = await Promise.all(
        Array.from({ length: total }, () => openChat(conversation, caller)),
      );
      await Promise.all(
        chats.map(async (chat, k) => {
          const stream = await chat.send("[script:resume-deserted]");
          await stream.until((chunk, { id }) => id >= k || chunk.type === "finish");
          stream.leave();
          await stream.ended;
          await (await chat.resume()).ended;
          const { isStreaming, messages } = await chat.read();
          expect(isStreaming).toBe(false);
          expect(messages.map((message) => message.role)).toEqual(["user", "assistant"]);
          expect(textOf(messages[1]), `left at chunk ${k}`).toContain("nearly done");
        }),
      );
    });

    it("changes nothing when it never reads the answer", async () => {
      const held = scriptHeld("resume-unread");
      const conversation = await openConversation(caller);
      const gone = await conversation.send("[script:resume-unread]");
      gone.leave();
      await held.reached;
      const rest = await conversation.resume();
      held.open();
      const whole = await rest.ended;
      expectCompleteTurn(whole);
      expect(await assemble(rest.chunks)).toEqual(await conversation.answer());
    });
  });
}
