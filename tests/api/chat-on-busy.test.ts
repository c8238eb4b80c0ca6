import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createPerson } from "../support/harness/clients.ts";
import {
  type Conversation,
  openConversation,
  startEndlessTurn,
} from "../support/harness/conversation.ts";
import { sql } from "../support/harness/stack.ts";
import { expectCompleteTurn } from "../support/harness/turn-stream.ts";

async function busyChat() {
  const person = await createPerson();
  const conversation = await openConversation(person.withKey);
  const { stream } = await startEndlessTurn(person.withKey, conversation);
  return { person, conversation, stream };
}

const enqueue = (conversation: Conversation, text: string) =>
  conversation.send([{ id: text, content: text }], { onBusy: "enqueue" });

const userIds = async (conversation: Conversation) =>
  (await conversation.read()).messages.filter(({ role }) => role === "user").map(({ id }) => id);

const waitingIn = ({ chatId }: Conversation) =>
  sql`select turn_id from queued_turns where chat_id = ${chatId}`;

describe("POST /api/chat while a turn is active", () => {
  it("200: enqueue waits in order; interrupt stops the turn and goes before them", async () => {
    const { conversation, stream } = await busyChat();
    const second = await enqueue(conversation, "second");
    const third = await enqueue(conversation, "third");
    for (const waiting of [second, third]) {
      expect(waiting.status).toBe(200);
      expect(waiting.runId).toBe("");
      expect(waiting.frames).toEqual([]);
    }
    const first = await conversation.send([{ id: "first", content: "first" }], {
      onBusy: "interrupt",
    });
    expect(first.status).toBe(200);
    await stream;
    for (const waiting of [first, second, third]) {
      expectCompleteTurn(await waiting.ended);
      expect(waiting.isDone).toBe(true);
    }
    const { messages, isStreaming } = await conversation.read();
    expect(isStreaming).toBe(false);
    expect(messages.map(({ role }) => role)).toEqual(
      Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? "user" : "assistant")),
    );
    expect((await userIds(conversation)).slice(1)).toEqual(["first", "second", "third"]);
    const turns = await sql`
      select status from turns where chat_id = ${conversation.chatId} order by created_at`;
    expect(turns.map(({ status }) => status)).toEqual([
      "cancelled",
      "completed",
      "completed",
      "completed",
    ]);
  });

  it("200 and 429: a repeated message waits once, ten wait, and a stop drops them", async () => {
    const { person, conversation, stream } = await busyChat();
    const once = await enqueue(conversation, "0");
    const again = await conversation.send([{ id: "0", content: "0" }]);
    expect(again.status).toBe(200);
    expect(await waitingIn(conversation)).toHaveLength(1);
    const rejected = await conversation.send("rejected");
    expect(rejected.status).toBe(409);
    for (let index = 1; index < 10; index++) {
      const waiting = await enqueue(conversation, String(index));
      expect(waiting.status).toBe(200);
      waiting.leave();
    }
    const full = await enqueue(conversation, "full");
    expect(full.status).toBe(429);
    await full.ended;
    expect(JSON.parse(full.text)).toEqual({
      status: "error",
      message: "Too many messages wait in this chat: wait for one to begin, or stop the chat",
    });
    const stopped = await person.withKey.post(`/api/chat/${conversation.chatId}/stop`);
    expect(stopped.body).toEqual({ status: "success", stopped: true });
    await stream;
    for (const waiting of [once, again]) {
      expect((await waiting.ended).map(({ chunk }) => chunk)).toEqual([
        {
          type: "error",
          errorText: "The message was dropped before its turn: send it again",
        },
        { type: "finish", finishReason: "error" },
      ]);
      expect(waiting.isDone).toBe(true);
    }
    expect(await userIds(conversation)).toHaveLength(1);
    const fresh = await conversation.send([{ id: "fresh", content: "hello" }], {
      onBusy: "enqueue",
    });
    expect(fresh.runId).not.toBe("");
    expectCompleteTurn(await fresh.ended);
  });

  it("200: a message whose sandbox is gone by its turn is stored, and its turn ends with the reason", async () => {
    const { person, conversation, stream } = await busyChat();
    const waiting = await enqueue(conversation, "waits");
    await sql`update sessions set sandbox_state = null where id = ${conversation.sessionId}`;
    const active = (await conversation.read()).chat.activeStreamId;
    await person.withKey.post(`/api/chat/runs/${active}/cancel`);
    await stream;
    const errorText = "sandbox_missing: Sandbox not initialized";
    expect((await waiting.ended).map(({ chunk }) => chunk)).toContainEqual({
      type: "error",
      errorText,
    });
    expect((await userIds(conversation)).at(-1)).toBe("waits");
  });

  it("200: a turn left behind by a dead server is started by another one", async () => {
    const { withKey, id: account } = await createPerson();
    /** The state left by a server that dies before it starts the turn, or before it starts the run. */
    const leaveBehind = async (isBegun: boolean) => {
      const conversation = await openConversation(withKey);
      const turn = randomUUID();
      const parts = [{ type: "text", text: "hello" }];
      const claim = {
        account_id: account,
        session_id: conversation.sessionId,
        chat_id: conversation.chatId,
        turn_id: turn,
        message_id: "left",
        parts,
        assistant_message_id: randomUUID(),
        title: "hello",
        default_model_id: "auto",
        credential: "key",
      };
      await sql.begin(async (transaction) => {
        await transaction`
          insert into queued_turns
            (turn_id, account_id, chat_id, message_id, goes_first, claim, begun_at)
          values (${turn}, ${account}, ${conversation.chatId}, 'left', false,
            jsonb_populate_record(null::turn_claim, ${sql.json(claim)}),
            ${isBegun ? sql`now() - interval '1 minute'` : null})`;
        if (isBegun) {
          await transaction`select claim_turn(to_jsonb(claim), 'reject', 0, 0, 0, 0) from queued_turns
            where turn_id = ${turn}`;
        }
      });
      return conversation;
    };
    for (const conversation of [await leaveBehind(false), await leaveBehind(true)]) {
      await expect.poll(() => waitingIn(conversation)).toEqual([]);
      await expect
        .poll(async () => (await conversation.read()).messages.map(({ role }) => role))
        .toEqual(["user", "assistant"]);
    }
  });
});
