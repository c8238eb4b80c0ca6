import { describe, expect, it } from "vitest";
import { z } from "zod";
import { branch, feedback } from "../../lib/sessions/session.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { createPerson } from "../support/harness/clients.ts";
import {
  type Conversation,
  openConversation,
  startEndlessTurn,
} from "../support/harness/conversation.ts";
import { sql } from "../support/harness/stack.ts";
import { expectCompleteTurn, textOf } from "../support/harness/turn-stream.ts";

const listed = z.strictObject({ status: z.literal("success"), branches: z.array(branch) });
const rated = z.strictObject({ status: z.literal("success"), feedback: feedback.nullable() });
const ratings = z.strictObject({ status: z.literal("success"), feedback: z.array(feedback) });

async function open() {
  const { withKey: caller } = await createPerson();
  const conversation = await openConversation(caller);
  const path = `/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`;
  return {
    ...{ caller, conversation, path },
    say: (id: string, content: string, parentId?: string) =>
      say(conversation, id, content, parentId),
    shown: async () => (await conversation.read()).messages.map(({ id }) => id),
    branches: async () => listed.parse((await caller.get(`${path}/branches`)).body).branches,
    choose: (message_id: string) =>
      caller.request("PUT", `${path}/branch`, { body: { message_id } }),
    rate: (messageId: string, body: object) =>
      caller.request("PUT", `${path}/messages/${encodeURIComponent(messageId)}/feedback`, { body }),
  };
}

/** Returns the id of the answer. */
async function say(conversation: Conversation, id: string, content: string, parentId?: string) {
  const more = parentId === undefined ? {} : { parentId };
  const stream = await conversation.send([{ id, content }], more);
  expect(stream.status, stream.text).toBe(200);
  expectCompleteTurn(await stream.ended);
  return (await conversation.answer()).id;
}

describe("POST /api/chat with parentId 200", () => {
  it("edits a message, answers one again, and both ways lead back", async () => {
    const { conversation, say, shown, branches, choose } = await open();
    const a1 = await say("u1", "hello");
    const a2 = await say("u2", "read one.txt");
    const edited = await say("u2 edited", "read two.txt", a1);
    expect(await shown()).toEqual(["u1", a1, "u2 edited", edited]);
    const again = await say("u2 edited", "read two.txt", a1);
    expect(await branches()).toEqual([
      { message_id: "u2 edited", sibling_ids: ["u2", "u2 edited"] },
      { message_id: again, sibling_ids: [edited, again] },
    ]);

    const chosen = await choose("u2");
    expect([chosen.status, chosen.body]).toEqual([
      200,
      {
        status: "success",
        branches: [{ message_id: "u2", sibling_ids: ["u2", "u2 edited"] }],
      },
    ]);
    expect(await shown()).toEqual(["u1", a1, "u2", a2]);
    const a3 = await say("u3", "what did I say?");
    expect(await shown()).toEqual(["u1", a1, "u2", a2, "u3", a3]);
    expect(textOf(await conversation.answer())).not.toContain("two.txt");
  });

  it("resumes on a branch, and gives a retry the same stream", async () => {
    const { caller, conversation, say, shown } = await open();
    await say("u1", "hello");
    const edit = [{ id: "slow", content: "run: sleep 100" }];
    const first = await conversation.send(edit, { parentId: "" });
    await first.until(({ type }) => type === "tool-input-available");
    const second = await conversation.send(edit, { parentId: "" });
    expect(second.runId).toBe(first.runId);
    expect(await shown()).toEqual(["slow"]);
    const resumed = await conversation.resume();
    await caller.post(`/api/chat/${conversation.chatId}/stop`);
    expect(await resumed.ended).toEqual(await first.ended);
    expect(await shown()).toEqual(["slow", expect.any(String)]);
  });
});

describe("POST /api/chat with parentId 400, 404 and 409", () => {
  it("refuses a message that cannot follow there, and stores nothing", async () => {
    const [{ caller, conversation, say, shown }, foreign] = [await open(), await open()];
    const theirs = await foreign.say("u1", "theirs");
    const a1 = await say("u1", "hello");
    const { sessionId, chatId } = conversation;
    for (const [id, parentId, status, message] of [
      ["new", theirs, 404, "parentId is not a message of this chat"],
      ["new", "nobody's", 404, "parentId is not a message of this chat"],
      ["u1", a1, 409, "The message is stored after another one than parentId"],
      ["new", "x".repeat(129), 400, "parentId must be at most 128 characters"],
    ] as const) {
      const messages = [{ id, content: "hello" }];
      const answer = await caller.post("/api/chat", { sessionId, chatId, messages, parentId });
      expectError(answer, status, "message", message);
    }
    expect(await shown()).toEqual(["u1", a1]);
  });
});

describe("PUT /api/sessions/{sessionId}/chats/{chatId}/branch 400, 404 and 409", () => {
  it("refuses a message of no chat or of another, and any while a turn is active", async () => {
    const [{ caller, conversation, say, choose }, foreign] = [await open(), await open()];
    const theirs = await foreign.say("u1", "theirs");
    await say("u1", "hello");
    for (const id of [theirs, "nobody's"]) {
      expectError(await choose(id), 404, "error", "Message not found");
    }
    expect((await choose("")).body).toMatchObject({ error: "message_id must not be empty" });
    const { stream } = await startEndlessTurn(caller, conversation);
    const busy = await choose("u1");
    expectError(
      busy,
      409,
      "error",
      "A response is streaming for this chat: wait for its end, or stop it",
    );
    await conversation.stop();
    await stream;
    expect((await choose("u1")).status).toBe(200);
  });
});

describe("PUT /api/sessions/{sessionId}/chats/{chatId}/messages/{messageId}/feedback", () => {
  it("200: rates an answer, rates it again, and removes the rating", async () => {
    const { caller, path, say, rate } = await open();
    const id = await say("u1", "hello");
    const first = await rate(id, { rating: "up" });
    expect(rated.parse(first.body).feedback).toEqual({
      ...{ message_id: id, rating: "up", comment: null },
      updated_at: expect.any(String),
    });
    await rate(id, { rating: "down", comment: " Too long " });
    const list = async () => ratings.parse((await caller.get(`${path}/feedback`)).body).feedback;
    expect(await list()).toMatchObject([{ message_id: id, rating: "down", comment: "Too long" }]);
    expect(rated.parse((await rate(id, { rating: null })).body).feedback).toBeNull();
    expect(await list()).toEqual([]);
  });

  it("404: messages that are no answer of this chat", async () => {
    const [{ say, rate }, foreign] = [await open(), await open()];
    const theirs = await foreign.say("u1", "theirs");
    await say("u / ü", "hello");
    for (const other of [theirs, "nobody's", "u / ü"]) {
      expectError(await rate(other, { rating: "up" }), 404, "error", "Message not found");
    }
  });

  it("200: takes an id with any characters", async () => {
    const { conversation, rate } = await open();
    const id = "a/b ü %2F ?";
    await sql`insert into messages (chat_id, id, role, parts)
      values (${conversation.chatId}, ${id}, 'assistant', '[]')`;
    const answer = await rate(id, { rating: "up" });
    expect(rated.parse(answer.body).feedback).toMatchObject({ message_id: id });
  });
});
