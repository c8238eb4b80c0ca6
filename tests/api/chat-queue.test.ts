import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { queuedMessages } from "../../lib/turns/queue-contract.ts";
import { queueMessage } from "../support/fixtures/queued-messages.ts";
import { expectErrorShape } from "../support/fixtures/shapes.ts";
import { createPerson, type Person } from "../support/harness/clients.ts";
import {
  Conversation,
  openConversation,
  startEndlessTurn,
} from "../support/harness/conversation.ts";
import { expectCompleteTurn } from "../support/harness/turn-stream.ts";

async function busyChat(person: Person) {
  const conversation = await openConversation(person.withKey);
  const { stream } = await startEndlessTurn(person.withKey, conversation);
  return { conversation, stream, path: `/api/chat/${conversation.chatId}/queue` };
}

const send = (conversation: Conversation, id: string, onBusy: "enqueue" | "interrupt") =>
  conversation.send([{ id, content: `Say ${id}` }], { onBusy });

async function idsIn(person: Person, path: string): Promise<string[]> {
  const answer = await person.withKey.get(path);
  expect(answer.status).toBe(200);
  return queuedMessages.parse(answer.body).messages.map(({ id }) => id);
}

describe("the queue of a chat", () => {
  it("200: lists waiting messages in order, removes one, and sends another at once", async () => {
    const person = await createPerson();
    const { conversation, stream, path } = await busyChat(person);
    expect((await person.withKey.get(path)).body).toEqual({ status: "success", messages: [] });
    const waiting = new Map<string, Awaited<ReturnType<typeof send>>>();
    for (const id of ["press text", "a/b", "tour"]) {
      waiting.set(id, await send(conversation, id, "enqueue"));
    }
    const listed = queuedMessages.parse((await person.withBearer.get(path)).body);
    expect(listed.messages).toMatchObject(
      ["press text", "a/b", "tour"].map((id) => ({
        id,
        parts: [{ type: "text", text: `Say ${id}` }],
      })),
    );

    const removed = await person.withKey.delete(`${path}/${encodeURIComponent("a/b")}`);
    expect(removed.body).toEqual({ status: "success" });
    expect((await waiting.get("a/b")?.ended)?.at(-1)?.chunk).toMatchObject({ type: "finish" });
    expect(await idsIn(person, path)).toEqual(["press text", "tour"]);

    // The same message again: it neither waits twice nor behind the others, and the turn ends for it.
    const now = await send(conversation, "tour", "interrupt");
    expect(now.status).toBe(200);
    await stream;
    for (const turn of [now, waiting.get("press text")]) {
      expectCompleteTurn((await turn?.ended) ?? []);
    }
    const { messages } = await conversation.read();
    const asked = messages.filter(({ role }) => role === "user").map(({ id }) => id);
    expect(asked.slice(1)).toEqual(["tour", "press text"]);
    expect(await idsIn(person, path)).toEqual([]);
  });

  it("200: a repeated interrupt does not pass one that came after it", async () => {
    const person = await createPerson();
    const { sessionId, chatId } = await openConversation(person.withKey);
    const waiting = await queueMessage(person.id, { sessionId, chatId });
    const conversation = new Conversation(person.withKey, sessionId, chatId);
    const queued = { id: waiting, content: "Add the tour dates" };
    for (const entry of [queued, { id: "newer", content: "Say newer" }, queued]) {
      const turn = await conversation.send([entry], { onBusy: "interrupt" });
      expect(turn.status).toBe(200);
      turn.leave();
    }
    expect(await idsIn(person, `/api/chat/${chatId}/queue`)).toEqual(["newer", waiting]);
  });

  it("404: a message that does not wait", async () => {
    const person = await createPerson();
    const { chatId } = await openConversation(person.withKey);
    const message = await person.withKey.delete(`/api/chat/${chatId}/queue/${randomUUID()}`);
    expect(message.status).toBe(404);
    expectErrorShape(message, "error");
    expect(message.body).toMatchObject({ error: "Message not found" });
  });
});
