import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
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
