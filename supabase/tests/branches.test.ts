/**
 * The tree of a chat's messages, and the path that the chat shows.
 *
 * This file is long because the cases share the chat that they are made with.
 */
import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "../../tests/support/harness/stack.ts";
import { claimTurn, endTurn } from "./open-chat.ts";
import { createChat, noRows } from "./rows.ts";
import { rolledBack, Transaction } from "./transaction.ts";

const messageView = z.object({ id: z.string() });
const branchesView = z.object({
  branches: z.array(z.object({ message_id: z.string(), sibling_ids: z.array(z.string()) })),
});

/** A chat whose turns end as soon as they are claimed. */
class Chat {
  readonly transaction: Transaction;
  readonly address: { account_id: string; session_id: string; chat_id: string };

  constructor(transaction: Transaction, account: string, session: string, chat: string) {
    this.transaction = transaction;
    this.address = { account_id: account, session_id: session, chat_id: chat };
  }

  static async open(transaction: Transaction): Promise<Chat> {
    const account = await transaction.account();
    const { session, chat } = noRows();
    await createChat(transaction, account, { session, chat });
    return new Chat(transaction, account, session, chat);
  }

  claim(
    message_id: string,
    parent_id: string | null,
    on_busy = "reject",
    {
      text = message_id,
      replaces_answer = null,
    }: { readonly text?: string; readonly replaces_answer?: string | null } = {},
  ) {
    const turn_id = randomUUID();
    const given = {
      ...this.address,
      ...{ turn_id, message_id, parent_id },
      parts: [{ type: "text", text }],
      parts_before: null,
      assistant_message_id: `answer ${turn_id}`,
      title: "",
      default_model_id: "auto",
      context_limit: null,
      history: null,
      ...{ key_hash: null, key_prefix: null, key_name: null, key_expires_at: null },
      ...{ caller_key_id: null, credential: "key", replaces_answer },
    };
    return {
      turn_id,
      answerId: given.assistant_message_id,
      outcome: claimTurn(this.transaction, given, { on_busy }),
    };
  }

  /** Returns the id of the answer, and the model's request. */
  async turn(message_id: string, parent_id: string | null) {
    const { turn_id, answerId, outcome } = this.claim(message_id, parent_id);
    expect(await outcome).toEqual({ outcome: "claimed" });
    return { answerId, sent: await this.end(turn_id) };
  }

  async end(turn_id: string, status = "completed"): Promise<string[]> {
    const turn = await this.transaction.call("load_turn", { turn_id, run_id: `run-${turn_id}` });
    const ended = await endTurn(this.transaction, turn_id, { status, parts: [] });
    expect(ended).toMatchObject({ finished: true });
    const { history } = z.object({ history: z.array(z.object({ id: z.string() })) }).parse(turn);
    return history.map(({ id }) => id);
  }

  async shown(): Promise<string[]> {
    const [chat, ...messages] = await this.transaction.sql<{ text: string }[]>`
      select text from get_chat_body_page(
        ${this.address.account_id}, ${this.address.session_id}, ${this.address.chat_id},
        null, null, 1000000) text`;
    expect(JSON.parse(chat?.text ?? "")).toMatchObject({ id: this.address.chat_id });
    return messages.map(({ text }) => messageView.parse(JSON.parse(text.split("\n")[0] ?? "")).id);
  }

  async branches() {
    return branchesView.parse(await this.transaction.call("list_branches", this.address)).branches;
  }

  choose(message_id: string) {
    return this.transaction.call("choose_branch", { ...this.address, message_id });
  }
}

describe("a turn with a parent", () => {
  test("replaces a message and repeats an answer; the earlier ones stay on branches of their own", () =>
    rolledBack(async (transaction) => {
      const chat = await Chat.open(transaction);
      const { answerId: a1 } = await chat.turn("u1", null);
      const { answerId: a2 } = await chat.turn("u2", null);
      expect(await chat.branches()).toEqual([]);

      const edited = await chat.turn("u2 edited", a1);
      expect(edited.sent).toEqual(["u1", a1, "u2 edited"]);
      expect(await chat.shown()).toEqual(["u1", a1, "u2 edited", edited.answerId]);
      expect(await chat.branches()).toEqual([
        { message_id: "u2 edited", sibling_ids: ["u2", "u2 edited"] },
      ]);

      const repeated = await chat.turn("u1", "");
      expect(repeated.sent).toEqual(["u1"]);
      expect(await chat.shown()).toEqual(["u1", repeated.answerId]);
      expect(await chat.branches()).toEqual([
        { message_id: repeated.answerId, sibling_ids: [a1, repeated.answerId] },
      ]);

      // The way back leads to the newest message of that branch.
      await chat.choose(a1);
      expect(await chat.shown()).toEqual(["u1", a1, "u2 edited", edited.answerId]);
      await chat.choose("u2");
      expect(await chat.shown()).toEqual(["u1", a1, "u2", a2]);
      const next = await chat.turn("u3", null);
      expect(next.sent).toEqual(["u1", a1, "u2", a2, "u3"]);

      const again = await chat.turn("another beginning", "");
      expect(again.sent).toEqual(["another beginning"]);
      expect(await chat.branches()).toEqual([
        { message_id: "another beginning", sibling_ids: ["u1", "another beginning"] },
      ]);
    }));

  test("without one, a message that is sent again gets its answer, and never another one", () =>
    rolledBack(async (transaction) => {
      const chat = await Chat.open(transaction);
      const { answerId: a1 } = await chat.turn("u1", null);
      const { answerId: a2 } = await chat.turn("u2", null);
      expect(await chat.claim("u1", null).outcome).toMatchObject({
        outcome: "answered",
        message_id: a1,
      });
      const changed = chat.claim("u1", null, "reject", { text: "something else" });
      expect(await changed.outcome).toEqual({ outcome: "content_differs" });
      expect(await chat.shown()).toEqual(["u1", a1, "u2", a2]);
    }));

  test.each(["failed", "cancelled"])("without one, answers again on a branch what %s", (status) =>
    rolledBack(async (transaction) => {
      const chat = await Chat.open(transaction);
      const { answerId: a1 } = await chat.turn("u1", null);
      const first = chat.claim("u2", null);
      expect(await first.outcome).toEqual({ outcome: "claimed" });
      await chat.end(first.turn_id, status);
      const { answerId: a2, sent } = await chat.turn("u2", null);
      expect(sent).toEqual(["u1", a1, "u2"]);
      expect(await chat.shown()).toEqual(["u1", a1, "u2", a2]);
      expect(await chat.branches()).toEqual([
        { message_id: a2, sibling_ids: [first.answerId, a2] },
      ]);
    }),
  );

  test("is not needed to replace an answer, which a repeated request does once", () =>
    rolledBack(async (transaction) => {
      const chat = await Chat.open(transaction);
      const { answerId: a1 } = await chat.turn("u1", null);
      const regenerate = () => chat.claim("u1", null, "reject", { replaces_answer: a1 });
      const { turn_id, answerId: a2, outcome } = regenerate();
      expect(await outcome).toEqual({ outcome: "claimed" });
      expect(await chat.end(turn_id)).toEqual(["u1"]);
      expect(await chat.branches()).toEqual([{ message_id: a2, sibling_ids: [a1, a2] }]);
      expect(await regenerate().outcome).toMatchObject({ outcome: "answered", message_id: a2 });
    }));

  test("is not needed to tell a queued message from another with its id", () =>
    rolledBack(async (transaction) => {
      const chat = await Chat.open(transaction);
      expect(await chat.claim("u1", null).outcome).toEqual({ outcome: "claimed" });
      expect(await chat.claim("u2", null, "enqueue").outcome).toMatchObject({ outcome: "queued" });
      const changed = chat.claim("u2", null, "enqueue", { text: "something else" });
      expect(await changed.outcome).toEqual({ outcome: "content_differs" });
    }));

  test("branches off what was stored without parents", () =>
    rolledBack(async (transaction) => {
      const chat = await Chat.open(transaction);
      for (const id of ["b", "a", "c"]) {
        await transaction.sql`insert into messages (chat_id, id, role, parts)
          values (${chat.address.chat_id}, ${id}, 'user', '[]')`;
      }
      expect(await chat.branches()).toEqual([]);
      const { answerId } = await chat.turn("new", "b");
      expect(await chat.shown()).toEqual(["b", "new", answerId]);
      await chat.choose("a");
      expect(await chat.shown()).toEqual(["b", "a", "c"]);
      expect(await chat.branches()).toEqual([{ message_id: "a", sibling_ids: ["a", "new"] }]);
    }));

  test("is refused when the parent is unknown or another one, and changes nothing", () =>
    rolledBack(async (transaction) => {
      const [chat, foreign] = [await Chat.open(transaction), await Chat.open(transaction)];
      const { answerId } = await chat.turn("u1", null);
      await foreign.turn("theirs", null);
      const before = await chat.shown();
      for (const [message, parent, outcome] of [
        ["new", "nobody's", "parent_missing"],
        ["new", "theirs", "parent_missing"],
        ["u1", answerId, "parent_differs"],
      ] as const) {
        expect(await chat.claim(message, parent).outcome).toEqual({ outcome });
      }
      expect(await chat.shown()).toEqual(before);
    }));

  test("may wait for the active turn, and branches when it begins", () =>
    rolledBack(async (transaction) => {
      const chat = await Chat.open(transaction);
      await chat.turn("u1", null);
      const active = chat.claim("u2", null);
      expect(await active.outcome).toEqual({ outcome: "claimed" });
      const waiting = chat.claim("u1 edited", "", "enqueue");
      expect(await waiting.outcome).toMatchObject({ outcome: "queued" });
      expect(await chat.choose("u1")).toEqual({ busy: true });
      await chat.end(active.turn_id);
      expect(await chat.choose("u1")).toEqual({ busy: true });
      const begin = { chat_id: chat.address.chat_id, max_active: 0, stale_seconds: 10 };
      expect(await transaction.call("begin_queued_turn", begin)).toEqual({
        turn_id: waiting.turn_id,
        credential: "key",
      });
      expect(await chat.end(waiting.turn_id)).toEqual(["u1 edited"]);
      expect(await chat.shown()).toEqual(["u1 edited", waiting.answerId]);
    }));

  test("comes second of two at once, and finds the first at work", async () => {
    const account = randomUUID();
    const { session, chat: id } = noRows();
    await sql.begin(async (transaction) => {
      await transaction`insert into accounts (id, email)
        values (${account}, ${`${account}@example.com`})`;
      await createChat(new Transaction(transaction), account, { session, chat: id });
    });
    const edit = (message: string) =>
      sql.begin(
        (transaction) =>
          new Chat(new Transaction(transaction), account, session, id).claim(message, "").outcome,
      );
    try {
      const outcomes = await Promise.all([edit("one"), edit("other")]);
      expect(
        outcomes.map((answer) => z.object({ outcome: z.string() }).parse(answer).outcome).sort(),
      ).toEqual(["active", "claimed"]);
      const stored = await sql`select on_path from messages where chat_id = ${id}`;
      expect([...stored]).toEqual([{ on_path: true }]);
    } finally {
      await sql`delete from accounts where id = ${account}`;
    }
  });
});

/** The tree as a list of parents, which the database must agree with after any turns and choices. */
test("the path is a way from the beginning to a leaf, in the order of time, whatever was done", async () => {
  const step = fc.record({
    name: fc.constantFrom("send", "edit", "repeat", "choose"),
    at: fc.nat(100),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) =>
      rolledBack(async (transaction) => {
        const chat = await Chat.open(transaction);
        const parents = new Map<string, string>();
        const isAnswer = (id: string) => id.startsWith("answer ");
        const pick = (ids: string[], at: number) => ids[at % ids.length] ?? "";
        for (const [place, { name, at }] of steps.entries()) {
          const shown = await chat.shown();
          const users = [...parents.keys()].filter((id) => !isAnswer(id));
          if (name === "choose" && parents.size > 0) {
            await chat.choose(pick([...parents.keys()], at));
          } else {
            const old = name === "send" ? "" : pick(users, at);
            const id = name === "repeat" && old !== "" ? old : `u${place}`;
            const parent = old === "" ? (shown.at(-1) ?? "") : (parents.get(old) ?? "");
            const { answerId, sent } = await chat.turn(id, old === "" ? null : parent);
            parents.set(id, parent);
            parents.set(answerId, id);
            expect(sent).toEqual(pathTo(parents, id));
            expect(await chat.shown()).toEqual(pathTo(parents, answerId));
          }
          const now = await chat.shown();
          expect(now).toEqual(pathTo(parents, now.at(-1) ?? ""));
          const siblings = (id: string) =>
            [...parents].filter(([, parent]) => parent === parents.get(id)).map(([one]) => one);
          expect(await chat.branches()).toEqual(
            now
              .filter((id) => siblings(id).length > 1)
              .map((id) => ({ message_id: id, sibling_ids: siblings(id) })),
          );
        }
      }),
    ),
    { numRuns: 15 },
  );
});

function pathTo(parents: ReadonlyMap<string, string>, leaf: string): string[] {
  return leaf === "" ? [] : [...pathTo(parents, parents.get(leaf) ?? ""), leaf];
}

describe("a rating", () => {
  test("is of an answer only, is replaced, and goes with its chat", () =>
    rolledBack(async (transaction) => {
      const chat = await Chat.open(transaction);
      const { answerId: message_id } = await chat.turn("u1", null);
      const rate = (more: { message_id: string; rating: string | null; comment: string | null }) =>
        transaction.call("rate_message", { ...chat.address, ...more });
      expect(await rate({ message_id: "u1", rating: "up", comment: null })).toEqual({
        missing: "message",
      });
      await rate({ message_id, rating: "up", comment: "Good" });
      await rate({ message_id, rating: "down", comment: null });
      expect(await transaction.call("list_feedback", chat.address)).toMatchObject({
        feedback: [{ message_id, rating: "down", comment: null }],
      });
      expect(await rate({ message_id, rating: null, comment: null })).toEqual({ feedback: null });
      expect(await transaction.call("list_feedback", chat.address)).toEqual({ feedback: [] });
      await rate({ message_id, rating: "up", comment: null });
      await transaction.call("delete_chat", chat.address);
      const left = await transaction.sql`
        select from message_feedback where chat_id = ${chat.address.chat_id}`;
      expect(left).toHaveLength(0);
    }));
});
