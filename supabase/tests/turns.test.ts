/** Turns from their claim to their end. This file is long because it has the whole life of a turn. */
import { randomUUID } from "node:crypto";
import { inStoredOrder } from "@platform/agent/tools/make-storable";
import { describe, expect, test } from "vitest";
import { sql } from "../../tests/support/harness/stack.ts";
import { claimOf, claimTurn, endTurn, openChat, TEXT } from "./open-chat.ts";
import { createChat, createRows, noRows } from "./rows.ts";
import { rolledBack, Transaction } from "./transaction.ts";

describe("claim_turn", () => {
  test("stores the message, the turn and its credential, and the second claim finds the first", () =>
    rolledBack(async (transaction) => {
      const chat = await openChat(transaction);
      const claim = claimOf(chat);
      expect(await claimTurn(transaction, claim)).toEqual({ outcome: "claimed" });
      const [row] = await transaction.sql`
        select t.headless, t.model_id, c.title, c.active_stream_id, k.hash, k.scope, m.role, m.parts
        from turns t join chats c on c.id = t.chat_id join api_keys k on k.id = t.key_id
        join messages m on m.chat_id = c.id and m.id = t.message_id
        where t.id = ${claim.turn_id}`;
      expect(row).toEqual({
        headless: false,
        model_id: "auto",
        title: "Hello",
        active_stream_id: `pending:${claim.turn_id}`,
        hash: claim.key_hash,
        scope: "run",
        role: "user",
        parts: TEXT,
      });
      const second = { ...claim, turn_id: randomUUID(), message_id: "m2" };
      expect(await claimTurn(transaction, second)).toEqual({
        outcome: "active",
        turn_id: claim.turn_id,
        run_id: null,
        message_id: "m1",
      });
    }));

  test("changes nothing when the account would have too many turns", () =>
    rolledBack(async (transaction) => {
      const account = await transaction.account();
      const chats = [noRows(), noRows()];
      for (const ids of chats) await createChat(transaction, account, ids);
      const [first, second] = chats.map(({ session, chat }) => claimOf({ account, session, chat }));
      if (!first || !second) throw new Error("There are two chats.");
      const one = { max_active: 1 };
      expect(await claimTurn(transaction, first, one)).toEqual({ outcome: "claimed" });
      expect(await claimTurn(transaction, second, one)).toEqual({
        outcome: "too_many_turns",
      });
      const left = await transaction.sql`
        select from messages where chat_id = ${second.chat_id}
        union all select from api_keys where hash = ${second.key_hash}
        union all select from chats where id = ${second.chat_id} and active_stream_id is not null`;
      expect(left).toHaveLength(0);
    }));

  test("refuses the id of an assistant's message, and an answer to a question that has changed", () =>
    rolledBack(async (transaction) => {
      const chat = await openChat(transaction);
      await transaction.sql`insert into messages (chat_id, id, role, parts)
        values (${chat.chat}, 'a0', 'assistant', '[{"type": "question"}]')`;
      const claim = { ...claimOf(chat), message_id: "a0" };
      expect(await claimTurn(transaction, claim)).toEqual({ outcome: "id_taken" });
      const stale = { ...claim, parts_before: [{ type: "other" }] };
      expect(await claimTurn(transaction, stale)).toEqual({
        outcome: "answer_stale",
      });
      const answer = { ...claim, parts_before: [{ type: "question" }] };
      expect(await claimTurn(transaction, answer)).toEqual({ outcome: "claimed" });
    }));
});

describe("a turn", () => {
  test("is loaded by its run, stopped, finished once, and leaves nothing running", () =>
    rolledBack(async (transaction) => {
      const chat = await openChat(transaction);
      const claim = claimOf(chat);
      await claimTurn(transaction, claim);
      const turn_id = claim.turn_id;
      expect(await transaction.call("load_turn", { turn_id, run_id: "run-1" })).toMatchObject({
        outcome: "active",
        account_id: chat.account,
        has_key: true,
        history: [{ id: "m1", role: "user", parts: TEXT }],
        steps: [],
      });
      expect(await transaction.call("load_turn", { turn_id, run_id: "run-2" })).toEqual({
        outcome: "lost",
        has_other_run: true,
      });
      const call_ids = ["c1"];
      expect(await transaction.call("start_tools", { turn_id, call_ids })).toEqual([]);
      const done = { call_id: "c1", output: { ok: true }, sources: null };
      await transaction.call("finish_tool", { account_id: chat.account, turn_id, ...done });
      expect(await transaction.call("start_tools", { turn_id, call_ids })).toEqual([
        { id: "c1", finished: true, output: { ok: true } },
      ]);
      const { account: account_id, chat: chat_id } = chat;
      expect(await transaction.call("request_stop", { account_id, chat_id })).toMatchObject({
        outcome: "active",
        turn_id,
      });
      const load = { account_id, turn_id, load: 1 };
      const step = { ...load, index: 0, result: {}, call_ids: ["c1", "c2"], usage: [] };
      expect(await transaction.call("complete_model_call", step)).toEqual({
        ...{ superseded: false, has_budget: false, stop_requested: true },
        known_calls: [{ id: "c1", finished: true, output: { ok: true } }],
      });
      expect(await transaction.call("start_tools", { turn_id, call_ids: ["c2"] })).toEqual([
        { id: "c2", finished: false, output: null },
      ]);
      const ending = { status: "cancelled" };
      expect(await endTurn(transaction, turn_id, ending)).toMatchObject({ finished: true });
      expect(await endTurn(transaction, turn_id, ending)).toMatchObject({ finished: false });
      // A process that was taken for dead starts nothing more.
      expect(await transaction.call("complete_model_call", { ...step, index: 1 })).toEqual({
        ...{ superseded: false, stop_requested: true, known_calls: [] },
      });
      expect(await transaction.call("start_tools", { turn_id, call_ids: ["c3"] })).toEqual([
        { id: "c3", finished: false, output: null },
      ]);
      expect(await transaction.call("find_active_turn", { account_id, chat_id })).toEqual({
        outcome: "idle",
      });
      const [left] = await transaction.sql`
        select (select count(*)::int from tool_runs where turn_id = ${turn_id}) as tools,
          (select count(*)::int from api_keys
            where account_id = ${account_id} and revoked_at is null) as keys`;
      expect(left).toEqual({ tools: 0, keys: 0 });
    }));
});

describe("abandon_turn", () => {
  const stateOf = async ({ sql: query }: Transaction, turnId: string) => {
    const [row] = await query`
      select t.status, c.active_stream_id, k.revoked_at is not null as revoked
      from turns t join chats c on c.id = t.chat_id join api_keys k on k.id = t.key_id
      where t.id = ${turnId}`;
    return row;
  };

  test("frees the chat, and the next claim takes it", () =>
    rolledBack(async (transaction) => {
      const chat = await openChat(transaction);
      const claim = claimOf(chat);
      await claimTurn(transaction, claim);
      const { turn_id } = claim;
      expect(await transaction.call("abandon_turn", { turn_id })).toEqual({});
      expect(await stateOf(transaction, turn_id)).toEqual({
        status: "failed",
        active_stream_id: null,
        revoked: true,
      });
      const next = { ...claimOf(chat), message_id: "m2" };
      expect(await claimTurn(transaction, next)).toEqual({ outcome: "claimed" });
    }));

  test("leaves a turn alone whose run has begun", () =>
    rolledBack(async (transaction) => {
      const claim = claimOf(await openChat(transaction));
      await claimTurn(transaction, claim);
      const { turn_id } = claim;
      await transaction.call("load_turn", { turn_id, run_id: "run-1" });
      expect(await transaction.call("abandon_turn", { turn_id })).toEqual({});
      expect(await stateOf(transaction, turn_id)).toEqual({
        status: "running",
        active_stream_id: "run-1",
        revoked: false,
      });
    }));
});

describe("provision_run", () => {
  const planOf = (account: string) => ({
    account_id: account,
    artist_id: null,
    effect_id: randomUUID(),
    turn_id: randomUUID(),
    assistant_message_id: "a1",
    title: "Hello",
    model_id: "auto",
    messages: ["m1", "m2"].map((id) => ({ id, role: "user", parts: TEXT })),
    key_hash: randomUUID(),
    key_prefix: "ap_run",
    key_name: "run",
    key_expires_at: "2100-01-01",
    max_active: 1,
    kind: "task",
    caller_key_id: null,
    max_account_bytes: 0,
  });

  test("does one effect once, and answers what the first attempt made", () =>
    rolledBack(async (transaction) => {
      const plan = planOf(await transaction.account());
      const made = await transaction.call("provision_run", plan);
      expect(made).toMatchObject({ turn_id: plan.turn_id, run_id: null });
      const again = { ...plan, turn_id: randomUUID() };
      expect(await transaction.call("provision_run", again)).toEqual(made);
      const [row] = await transaction.sql`
        select t.headless, t.kind, t.message_id, (select array_agg(m.id order by m.created_at) from messages m
          where m.chat_id = t.chat_id) as messages
        from turns t where t.effect_id = ${plan.effect_id}`;
      expect(row).toEqual({
        headless: true,
        kind: "task",
        message_id: "m2",
        messages: ["m1", "m2"],
      });
      const other = { ...planOf(plan.account_id), key_hash: randomUUID() };
      expect(await transaction.call("provision_run", other)).toEqual({
        refused: "too_many_turns",
      });
      const left = await transaction.sql`select from turns where effect_id = ${other.effect_id}`;
      expect(left).toHaveLength(0);
    }));

  test("stores the whole request with it, or nothing", () =>
    rolledBack(async (transaction) => {
      const setup = {
        output_schema: '{"type":"object"}',
        client_tools: "[]",
        webhook_url: "https://label.example/hook",
        deliver: { entries: [], approval_days: 7 },
        untrusted: [{ kind: "web", name: "label.example" }],
        connectors: ["mail"],
        instructions: "Be brief.",
        options: { skills: ["a"] },
        accepts_version: true,
      };
      const plan = { ...planOf(await transaction.account()), max_active: 0 };
      await transaction.call("provision_run", { ...plan, setup });
      const [row] = await transaction.sql`
        select t.output_schema, t.client_tools, t.webhook_url, t.deliver, t.untrusted, x.connectors,
          c.instructions, c.options
        from turns t join chats c on c.id = t.chat_id join chat_connectors x on x.chat_id = c.id
        where t.effect_id = ${plan.effect_id}`;
      const { accepts_version: _, ...stored } = setup;
      expect(row).toEqual(stored);
      const other = { ...plan, effect_id: randomUUID(), turn_id: randomUUID() };
      const missing = { ...setup, template_id: randomUUID() };
      expect(
        await transaction.call("provision_run", { ...other, key_hash: "b", setup: missing }),
      ).toEqual({ refused: "template" });
      const sessions = await transaction.sql`
        select from sessions where account_id = ${plan.account_id}`;
      expect(sessions).toHaveLength(1);
    }));

  test("is discarded whole, unless its run has started", () =>
    rolledBack(async (transaction) => {
      const plan = { ...planOf(await transaction.account()), max_active: 0 };
      await transaction.call("provision_run", plan);
      const { turn_id } = plan;
      expect(await transaction.call("discard_run", { turn_id })).toEqual({ discarded: true });
      const second = { ...planOf(plan.account_id), max_active: 0 };
      await transaction.call("provision_run", second);
      const started = { turn_id: second.turn_id, run_id: "run-1" };
      expect(await transaction.call("assign_run", started)).toEqual({ run_id: "run-1" });
      const late = { ...started, run_id: "run-2" };
      expect(await transaction.call("assign_run", late)).toEqual({ run_id: "run-1" });
      expect(await transaction.call("discard_run", { turn_id: second.turn_id })).toEqual({
        discarded: false,
      });
      const turns =
        await transaction.sql`select id from turns where account_id = ${plan.account_id}`;
      expect([...turns]).toEqual([{ id: second.turn_id }]);
    }));
});

describe.each([
  ["load_turn", { run_id: "" }],
  [
    "finish_turn",
    {
      ...{ load: 0, status: "completed", error: null, parts: TEXT, metadata: {} },
      ...{ index: null, step: null, usage: [] },
    },
  ],
  ["assign_run", { run_id: "" }],
  ["store_file_parts", { messages: [], history: [] }],
  ["end_title", { former: "", title: "Plan", usage: [] }],
  [
    "record_compaction",
    {
      ...{ load: 0, message_id: "m", kind: "cleared", state: {}, tokens_before: 2 },
      ...{ tokens_after: 1, usage: [], tool_call_id: null },
    },
  ],
])("%s", (name, args) => {
  test.each(["session", "chat"] as const)(
    "does not deadlock with the deletion of the %s",
    async (what) => {
      const [account, ids] = await sql.begin(async (transaction) => {
        const own = new Transaction(transaction);
        const owner = await own.account();
        const rows = await createRows(own, owner);
        await transaction`
        update chats set active_stream_id = ${`pending:${rows.turn}`} where id = ${rows.chat}`;
        return [owner, rows] as const;
      });
      const deletion = {
        account_id: account,
        session_id: ids.session,
        ...(what === "chat" && { chat_id: ids.chat }),
      };
      const given = {
        ...args,
        turn_id: ids.turn,
        ...("run_id" in args && { run_id: ids.run }),
        ...(("load" in args || "former" in args) && { account_id: account }),
        ...("former" in args && { chat_id: ids.chat }),
      };
      const inTransaction = (called: string, values: Parameters<Transaction["call"]>[1]) =>
        sql.begin((transaction) => new Transaction(transaction).call(called, values));
      const waiting = (count: number) =>
        expect
          .poll(
            () => sql`
            select 1 from pg_stat_activity where wait_event_type = 'Lock' and pid in (
              select pid from pg_locks where relation in ('chats'::regclass, 'turns'::regclass))`,
          )
          .toHaveLength(count);
      const answers = await sql.begin(async (transaction) => {
        await transaction`select 1 from turns where id = ${ids.turn} for update`;
        const called = inTransaction(name, given);
        await waiting(1);
        const deleted = inTransaction(`delete_${what}`, deletion);
        await waiting(2);
        return { called, deleted };
      });
      expect(await answers.called).not.toBe("raised 40P01");
      expect(await answers.deleted).toMatchObject({ [what]: { id: ids[what] } });
      await sql`delete from accounts where id = ${account}`;
    },
  );
});

test("values of the memory have their keys in the order in which the database returns them", async () => {
  const value = {
    ...{ stdout: "", exitCode: 0, a: { d: 1, c: 2 }, "10": 1, "9": 2 },
    b: [{ zz: 1, é: 2, a: 3, bb: null, 日: 4, abc: 5 }],
  };
  const [row] = await sql`select ${sql.json(value)}::jsonb as stored`;
  expect(JSON.stringify(inStoredOrder(value))).toBe(JSON.stringify(row?.stored));
});
