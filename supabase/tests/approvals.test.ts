import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { claimOf, claimTurn, openChat } from "./open-chat.ts";
import { rolledBack, type Transaction } from "./transaction.ts";

/** A turn loaded by one process, and its operations. */
async function openTurn(transaction: Transaction) {
  const chat = await openChat(transaction);
  const claim = claimOf(chat);
  await claimTurn(transaction, claim);
  const key = { account_id: chat.account, turn_id: claim.turn_id };
  await transaction.call("load_turn", { turn_id: key.turn_id, run_id: "run-1" });
  const { sql } = transaction;
  /** Calls of commands, by the command. */
  const callOf = (command: string) => ({
    ...{ id: randomUUID(), call_id: `1 ${command}`, tool_call_id: command, tool: "bash" },
    ...{ category: "bash", input: { command }, effect: [], fields: { command } },
  });
  return {
    chat,
    key,
    callOf,
    ask: (...calls: ReturnType<typeof callOf>[]) =>
      transaction.call("ask_approvals", { ...key, load: 1, calls, request_index: 5, days: 7 }),
    answer: (id: string, more: Readonly<Record<string, unknown>> = {}) =>
      transaction.call("answer_approvals", {
        ...{ account_id: chat.account, run_id: "run-1", chat_id: null, max_active: 0 },
        ...{ answers: [{ id, approved: true, ...more }] as never },
        ...{ answered_by: chat.account, answered_key_id: null },
      }),
    suspend: () =>
      transaction.call("suspend_turn", {
        ...{ ...key, load: 1, step: 1, tool_calls: [], wait_seconds: 60 },
      }),
    sql,
    /** Makes a new key the one that has started the turn, and returns its id. */
    startWithKey: async (): Promise<string> => {
      const [made] = await sql`insert into api_keys (account_id, name, hash, prefix)
        values (${chat.account}, 'own', ${randomUUID()}, 'ap_') returning id`;
      await sql`update turns set caller_key_id = ${made?.id} where id = ${key.turn_id}`;
      return String(made?.id);
    },
    setPolicy: (policy: string) =>
      sql`update chats set options = ${sql.json({ approvals: { bash: policy } })}
        where id = ${chat.chat}`,
  };
}

/** Changes rows as time does, for which no trigger is run. */
async function withoutTriggers(sql: Transaction["sql"], change: () => PromiseLike<unknown>) {
  await sql`set local session_replication_role = replica`;
  await change();
  await sql`set local session_replication_role = origin`;
}

const decided = (...decisions: object[]) => ({ superseded: false, decisions });

describe("an approval", () => {
  test("that is given before its turn waits lets it continue at once", () =>
    rolledBack(async (transaction) => {
      const { ask, answer, suspend, callOf, key } = await openTurn(transaction);
      const call = callOf("one");
      const { id, call_id } = call;
      const open = { id, call_id, state: "requested", reason: null };
      expect(await ask(call)).toEqual(decided(open));
      // Asked again after a crash, it is the same.
      expect(await ask({ ...call, id: randomUUID() })).toEqual(decided(open));
      expect(await answer(id)).toMatchObject({ outcome: "recorded", resume_index: 6 });
      await suspend();
      const [waiting] = await transaction.sql`
        select wakes_at <= now() as is_due from required_actions where turn_id = ${key.turn_id}`;
      expect(waiting).toEqual({ is_due: true });
    }));

  test.each([
    ["revoked", "revoked_at"],
    ["at the end of its grace time", "revoked_at"],
    ["expired", "expires_at"],
  ])("does not let a turn act whose key is %s, and stops it", (how, column) =>
    rolledBack(async (transaction) => {
      const { ask, answer, suspend, callOf, key, startWithKey, sql } = await openTurn(transaction);
      const keyId = await startWithKey();
      const [call, other] = [callOf("one"), callOf("two")];
      await ask(call, other);
      await suspend();
      expect(await answer(other.id)).toMatchObject({ outcome: "recorded" });
      // No statement is run when the time comes.
      const end = sql`update api_keys set ${sql(column)} = now() where id = ${keyId}`;
      await (how === "revoked"
        ? sql`select revoke_key(${key.account_id}, ${keyId})`
        : withoutTriggers(sql, () => end));
      expect(await answer(call.id)).toEqual({ outcome: "over", stopped_turn_id: key.turn_id });
      const load = await transaction.call("load_turn", { turn_id: key.turn_id, run_id: "run-1" });
      expect(load).toMatchObject({ outcome: "active", stop_requested: true });
      const [{ state } = {}] = await sql`select state from approvals where id = ${call.id}`;
      expect(state).toBe("requested");
    }),
  );

  test("that was given in time does not count either once the key has ended", () =>
    rolledBack(async (transaction) => {
      const { ask, answer, suspend, callOf, key, startWithKey, sql } = await openTurn(transaction);
      const keyId = await startWithKey();
      const call = callOf("one");
      await ask(call);
      await suspend();
      expect(await answer(call.id)).toMatchObject({ outcome: "recorded" });
      await withoutTriggers(
        sql,
        () => sql`update api_keys set revoked_at = now() where id = ${keyId}`,
      );
      const load = await transaction.call("load_turn", { turn_id: key.turn_id, run_id: "run-1" });
      expect(load).toMatchObject({ outcome: "active", stop_requested: true });
      // A repeated answer changes nothing, and a denial lets nothing act.
      expect(await answer(call.id)).toMatchObject({ outcome: "recorded" });
    }));

  test("may still be denied, which ends a turn without a key", () =>
    rolledBack(async (transaction) => {
      const { ask, answer, suspend, callOf, key, startWithKey, sql } = await openTurn(transaction);
      const keyId = await startWithKey();
      const call = callOf("one");
      await ask(call);
      await suspend();
      await withoutTriggers(
        sql,
        () => sql`update api_keys set revoked_at = now() where id = ${keyId}`,
      );
      expect(await answer(call.id, { approved: false })).toMatchObject({ outcome: "recorded" });
      const load = await transaction.call("load_turn", { turn_id: key.turn_id, run_id: "run-1" });
      expect(load).toMatchObject({ outcome: "active", stop_requested: true });
    }));

  test("comes too late after it has expired, and says nothing about other runs", () =>
    rolledBack(async (transaction) => {
      const { ask, answer, suspend, callOf, key } = await openTurn(transaction);
      const call = callOf("one");
      await ask(call);
      await suspend();
      await transaction.sql`update approvals set expires_at = now() where id = ${call.id}`;
      expect(await answer(call.id)).toEqual({ outcome: "over" });
      expect(await ask(call)).toMatchObject(decided({ state: "expired" }));
      expect(await answer(call.id, { approved: false })).toEqual({ outcome: "over" });
      await transaction.sql`delete from turns where id = ${key.turn_id}`;
      expect(await answer(call.id)).toEqual({ outcome: "missing" });
    }));

  test("is void if its policy denies the call by then, unless the call has started", () =>
    rolledBack(async (transaction) => {
      const { ask, answer, callOf, setPolicy, key } = await openTurn(transaction);
      const [started, other] = [callOf("started"), callOf("other")];
      await ask(started, other);
      await answer(started.id);
      await answer(other.id);
      await transaction.call("start_tools", {
        ...{ turn_id: key.turn_id, call_ids: [started.call_id] },
      });
      await setPolicy("deny");
      expect(await ask(started, other)).toMatchObject({
        decisions: expect.arrayContaining([
          expect.objectContaining({ id: started.id, state: "approved" }),
          expect.objectContaining({
            ...{ id: other.id, state: "denied", reason: "policy" },
          }),
        ]),
      });
    }));

  test("is not asked for when the call has started", () =>
    rolledBack(async (transaction) => {
      const { ask, callOf, key } = await openTurn(transaction);
      const [started, other] = [callOf("started"), callOf("other")];
      await transaction.call("start_tools", {
        ...{ turn_id: key.turn_id, call_ids: [started.call_id] },
      });
      expect(await ask(started)).toEqual(decided());
      expect(await ask(started, other)).toMatchObject(decided({ id: other.id }));
    }));

  test("continues the stream after the requests, of which a remembered one has none", () =>
    rolledBack(async (transaction) => {
      const { ask, answer, callOf } = await openTurn(transaction);
      const first = callOf("same");
      await ask(first);
      await answer(first.id, { remember: "chat" });
      const [again, other] = [{ ...callOf("same"), call_id: "2 same" }, callOf("other")];
      expect(await ask(again, other)).toMatchObject({
        decisions: expect.arrayContaining([
          expect.objectContaining({ id: again.id, state: "approved" }),
          expect.objectContaining({ id: other.id, state: "requested" }),
        ]),
      });
      expect(await answer(other.id)).toMatchObject({ resume_index: 6 });
    }));
});

test("the approval of a delivery expires after the days with which its run has started", () =>
  rolledBack(async (transaction) => {
    const { key } = await openTurn(transaction);
    const { sql } = transaction;
    const deliver = { entries: [{ kind: "email", to: ["a@example.com"] }], approval_days: 3 };
    await sql`update turns set options = '{"approvals": {"delivery": "ask"}}',
      deliver = ${sql.json(deliver)} where id = ${key.turn_id}`;
    await sql`select ask_delivery(t) from turns t where id = ${key.turn_id}`;
    const [asked] = await sql`select extract(day from expires_at - now())::integer as days
      from approvals where turn_id = ${key.turn_id}`;
    expect(asked).toEqual({ days: 3 });
  }));
