import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createChat } from "./rows.ts";
import { rolledBack, type Transaction } from "./transaction.ts";

const spend = (transaction: Transaction, account_id: string, step: number, cost_usd: number) =>
  transaction.call("record_usage", {
    ...{ account_id, source: "turn", kind: "chat", api_key_id: null, artist_id: null },
    calls: [{ step, tool: 0, call: 0, model_id: "m", input_tokens: 3, cost_usd }],
  });

test("a call is recorded once, and the month has the sum of what was recorded", () =>
  rolledBack(async (transaction) => {
    const account = await transaction.account();
    for (const [step, cost] of [
      [0, 1],
      [0, 1],
      [1, 0.5],
    ] as const) {
      await spend(transaction, account, step, cost);
    }
    const rows = await transaction.sql`
      select cost_usd::float, (select count(*)::int from usage_entries where account_id = ${account})
        as entries
      from usage_months where account_id = ${account}`;
    expect([...rows]).toEqual([{ cost_usd: 1.5, entries: 2 }]);
  }));

test("the usage of a turn that was deleted counts, and that of an account does not", () =>
  rolledBack(async (transaction) => {
    const account_id = await transaction.account();
    const calls = [{ step: 0, tool: 0, call: 0, model_id: "m", cost_usd: 1 }];
    const usage = { turn_id: randomUUID(), calls };
    expect(await transaction.call("record_turn_usage", { ...usage, account_id })).toBe(false);
    const unknown = { ...usage, account_id: randomUUID() };
    expect(await transaction.call("record_turn_usage", unknown)).toBe(false);
    const rows = await transaction.sql`
      select account_id from usage_entries where source = ${usage.turn_id}`;
    expect([...rows]).toEqual([{ account_id }]);
    await transaction.sql`delete from accounts where id = ${account_id}`;
    expect(
      await transaction.sql`select from usage_entries where source = ${usage.turn_id}`,
    ).toHaveLength(0);
  }));

test("webhooks are told once when 80 % of the budget is spent", () =>
  rolledBack(async (transaction) => {
    const account = await transaction.account();
    await transaction.sql`update accounts set monthly_budget_usd = 10 where id = ${account}`;
    await transaction.sql`insert into webhooks (id, account_id, url, events, secret)
      values (${randomUUID()}, ${account}, 'https://example.com', array['budget.warning'], 's')`;
    const told = async () => [
      ...(await transaction.sql`
        select (data ->> 'cost_usd')::float as cost_usd, data ->> 'month' as month
        from webhook_deliveries
        where account_id = ${account} and event_type = 'budget.warning'`),
    ];
    await spend(transaction, account, 0, 7.9);
    expect(await told()).toEqual([]);
    await spend(transaction, account, 1, 0.2);
    await spend(transaction, account, 1, 0.2);
    await spend(transaction, account, 2, 5);
    const month = new Date().toISOString().slice(0, 7);
    expect(await told()).toEqual([{ cost_usd: 8.1, month }]);
  }));

describe("reservations", () => {
  /** An account with a budget of 1 USD, and two of its turns. */
  const withTurns = (
    work: (t: Transaction, account: string, turns: readonly [string, string]) => Promise<void>,
  ) =>
    rolledBack(async (t) => {
      const account = await t.account();
      const [session, chat] = [randomUUID(), randomUUID()];
      const [turn, other] = [randomUUID(), randomUUID()];
      await createChat(t, account, { session, chat });
      await t.sql`insert into turns (id, account_id, session_id, chat_id, message_id,
          assistant_message_id, model_id)
        select id, ${account}, ${session}, ${chat}, 'm', 'a', 'm'
        from unnest(${[turn, other]}::uuid[]) id`;
      await t.sql`update accounts set monthly_budget_usd = 1 where id = ${account}`;
      await work(t, account, [turn, other]);
    });
  const reserve = (
    t: Transaction,
    account_id: string,
    turn_id: string,
    amounts: { estimate_usd: number | null; spent_usd?: number; released_usd?: number | null },
  ) =>
    t.call("reserve_call", {
      ...{ account_id, id: turn_id, load: 0, released_usd: null, spent_usd: 0, in_flight: 0 },
      ...amounts,
    });
  const large = { estimate_usd: 5 };

  test("the first call may exceed the budget, and those that follow see its reservation", () =>
    withTurns(async (t, account, [turn, other]) => {
      expect(await reserve(t, account, turn, large)).toBe("reserved");
      expect(await reserve(t, account, other, large)).toBe("budget_reached");
      const load = { account_id: account, turn_id: turn, load: 0 };
      await t.call("complete_model_call", {
        ...{ ...load, index: 0, result: {}, call_ids: [] },
        usage: [{ step: 0, tool: 0, call: 0, model_id: "m", cost_usd: 0.4 }],
      });
      expect(await reserve(t, account, other, large)).toBe("reserved");
    }));

  test("a call beside another one of its turn fits in, or waits for it to end", () =>
    withTurns(async (t, account, [turn]) => {
      const beside = (estimate_usd: number) =>
        reserve(t, account, turn, { estimate_usd, released_usd: 0 });
      expect(await beside(0.5)).toBe("reserved");
      expect(await beside(0.6)).toBe("budget_reached");
      expect(await beside(0.4)).toBe("reserved");
      const calls = [{ step: 0, tool: 1, call: 0, model_id: "m", cost_usd: 0, reserved_usd: 0.5 }];
      await t.call("record_turn_usage", { account_id: account, turn_id: turn, calls });
      expect(await beside(0.6)).toBe("reserved");
    }));

  test("a requested compaction has one, beside those of turns, until it ends", () =>
    withTurns(async (t, account_id, [turn]) => {
      const [{ session_id = "", chat_id = "" } = {}] = await t.sql`
        select session_id, chat_id from turns where id = ${turn}`;
      const id = randomUUID();
      const begin = { account_id, session_id, chat_id, id, lease_seconds: 60 };
      await t.call("begin_compaction", { ...begin, default_model_id: "auto" });
      const beside = (estimate_usd: number | null) =>
        t.call("reserve_call", {
          ...{ account_id, id, load: null, estimate_usd, released_usd: null },
          ...{ spent_usd: 0, in_flight: 0 },
        });
      expect(await beside(null)).toBe("unpriced_model");
      expect(await beside(0.6)).toBe("reserved");
      expect(await beside(0.6)).toBe("budget_reached");
      expect(await beside(0.4)).toBe("reserved");
      expect(await reserve(t, account_id, turn, large)).toBe("budget_reached");
      await t.call("end_compaction", {
        ...{ account_id, chat_id, id, leaf_id: "", base_id: null, compaction: null },
        ...{ api_key_id: null, usage: [] },
      });
      expect(await beside(0.1)).toBe("superseded");
      expect(await reserve(t, account_id, turn, large)).toBe("reserved");
    }));

  test("what an attempt has spent counts until its step is recorded", () =>
    withTurns(async (t, account, [turn, other]) => {
      expect(await reserve(t, account, turn, { estimate_usd: 0.1 })).toBe("reserved");
      expect(await reserve(t, account, turn, { estimate_usd: 0.1, spent_usd: 1 })).toBe(
        "budget_reached",
      );
      expect(await reserve(t, account, other, { estimate_usd: 0 })).toBe("budget_reached");
    }));

  test.each([
    ["its turn ends", (id: string) => `update turns set finished_at = now() where id = '${id}'`],
    ["another process loads its turn", (id: string) => `select load_turn('${id}', 'run')`],
    [
      "its time is over",
      (id: string) => `update turns set reserved_until = now() - interval '1 s' where id = '${id}'`,
    ],
  ])("a reservation counts no longer when %s", (_, statement) =>
    withTurns(async (t, account, [turn, other]) => {
      expect(await reserve(t, account, turn, large)).toBe("reserved");
      await t.sql`update chats set active_stream_id = ${`pending:${turn}`}
        where id = (select chat_id from turns where id = ${turn})`;
      await t.sql.unsafe(statement(turn));
      expect(await reserve(t, account, other, large)).toBe("reserved");
    }),
  );

  test("a load that was superseded reserves nothing", () =>
    withTurns(async (t, account, [turn]) => {
      await t.sql`update turns set loads = 1 where id = ${turn}`;
      expect(await reserve(t, account, turn, large)).toBe("superseded");
    }));

  test("what has no price needs the account's consent, unless there is no budget", () =>
    withTurns(async (t, account, [turn]) => {
      const unpriced = { estimate_usd: null };
      expect(await reserve(t, account, turn, unpriced)).toBe("unpriced_model");
      await t.sql`update accounts set allow_unpriced_models = true where id = ${account}`;
      expect(await reserve(t, account, turn, unpriced)).toBe("reserved");
      await t.sql`update accounts set allow_unpriced_models = false, monthly_budget_usd = null
        where id = ${account}`;
      expect(await reserve(t, account, turn, unpriced)).toBe("reserved");
    }));

  test("a generation reserves its cost until it is recorded or its run ends", () =>
    withTurns(async (t, account, [turn]) => {
      const start = async (id: string, cost_usd: number | null) =>
        t.call("start_generation", {
          ...{ cost_usd, artist_id: null, credential_id: null, id, account_id: account },
          ...{ task_identifier: "generate-image", payload: null, metadata: {}, lease_seconds: 60 },
          ...{ effect_id: randomUUID(), at_once: 0, idempotency_key: null, media_limit_bytes: 0 },
        });
      expect(await start("run_unpriced", null)).toEqual({ outcome: "unpriced_model" });
      expect(await start("run_first", 3)).toEqual({ outcome: "begun" });
      expect(await start("run_second", 3)).toEqual({ outcome: "over_budget" });
      expect(await reserve(t, account, turn, large)).toBe("budget_reached");
      await t.call("end_task_run", {
        id: "run_first",
        status: "FAILED",
        output: null,
        error: null,
      });
      expect(await start("run_third", 3)).toEqual({ outcome: "begun" });
      await t.call("record_generation", {
        ...{ account_id: account, run_id: "run_third", kind: "image", credential_id: null },
        call: { step: 0, tool: 0, call: 0, model_id: "m", images: 1, cost_usd: 0.9 },
      });
      await t.sql`update task_runs set reserved_usd = 0 where id = 'run_third' and reserved_usd = 2.1`;
      expect(await reserve(t, account, turn, large)).toBe("reserved");
      expect(await t.sql`select from task_runs where id in ('run_unpriced', 'run_second')`).toEqual(
        [],
      );
    }));
});
