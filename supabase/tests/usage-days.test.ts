/** The sums of usage_days, from which reports are made. */
import { randomUUID } from "node:crypto";
import type { Sql } from "postgres";
import { describe, expect, test } from "vitest";
import { sql } from "../../tests/support/harness/stack.ts";
import { rolledBack, type Transaction } from "./transaction.ts";

describe("sums of days", () => {
  const DAY_MS = 86_400_000;
  const groups = ["day", "model", "api_key", "artist", "kind"] as const;
  type Entry = Readonly<Record<"source" | "day" | "model" | "kind", string>> &
    Readonly<Record<"api_key" | "artist", string | null>> & {
      readonly at: number;
      readonly tool: number;
      readonly input_tokens: number;
      readonly cost_usd: number | null;
    };

  const entriesOf = async (transaction: Transaction, account: string): Promise<Entry[]> => [
    ...(await transaction.sql<Entry[]>`
      select source, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day, model_id as model,
        kind, api_key_id as api_key, artist_id as artist, tool, input_tokens::int,
        cost_usd::float, (extract(epoch from created_at) * 1000)::float as at
      from usage_entries where account_id = ${account}`),
  ];

  /** The figures of a report, counted here. */
  function sumOf(entries: readonly Entry[]) {
    const calls = entries.filter(({ kind }) => kind !== "image");
    const priced = entries.flatMap(({ cost_usd }) => cost_usd ?? []);
    return {
      runs: new Set(calls.filter(({ tool }) => tool >= 0).map(({ source }) => source)).size,
      steps: calls.length,
      input_tokens: entries.reduce((sum, entry) => sum + entry.input_tokens, 0),
      cost_usd:
        entries.length > 0 && priced.length === 0
          ? null
          : expect.closeTo(
              priced.reduce((sum, usd) => sum + usd, 0),
              6,
            ),
      unpriced_calls: entries.length - priced.length,
    };
  }

  function keysOf(entries: readonly Entry[], group: (typeof groups)[number]) {
    const keys = [...new Set(entries.map((entry) => entry[group]))];
    return keys.sort((a, b) => (a === null ? 1 : b === null ? -1 : a < b ? -1 : 1));
  }

  async function expectSums(transaction: Transaction, account_id: string, start: number) {
    const all = await entriesOf(transaction, account_id);
    for (const [from, to] of [
      [start, null],
      [start + DAY_MS / 3, start + 2.5 * DAY_MS],
      [start + DAY_MS / 3, start + DAY_MS / 2],
      [start + DAY_MS, start + 2 * DAY_MS],
    ] as const) {
      const entries = all.filter(({ at }) => at >= from && at < (to ?? Number.POSITIVE_INFINITY));
      for (const [place, group_by] of groups.entries()) {
        const split_by = groups[(place + 1) % groups.length] ?? "day";
        const range = { from: new Date(from), to: to && new Date(to) };
        const report = await transaction.call("report_usage", {
          ...{ account_id, group_by, split_by },
          ...{ from: range.from, to: range.to },
        });
        expect(report).toMatchObject({
          totals: sumOf(entries),
          items: keysOf(entries, group_by).map((key) => {
            const own = entries.filter((entry) => entry[group_by] === key);
            const parts = keysOf(own, split_by).map((part) =>
              expect.objectContaining({
                key: part,
                ...sumOf(own.filter((entry) => entry[split_by] === part)),
              }),
            );
            return { key, ...sumOf(own), parts: expect.arrayContaining(parts) };
          }),
        });
      }
    }
  }

  test.each([1, 2, 3, 4])(
    "a report equals the sum of the entries, whatever was summed, changed and deleted: %i",
    (seed) =>
      rolledBack(async (transaction) => {
        const { sql } = transaction;
        const account = await transaction.account();
        const start = Math.floor(Date.now() / DAY_MS) * DAY_MS - 4 * DAY_MS;
        await sql`select setseed(${seed / 10})`;
        const [ids] = await sql`select gen_random_uuid() as key, gen_random_uuid() as artist`;
        for (let round = 0; round < 12; round++) {
          // Sources that use several models, days, keys and kinds, out of order.
          await sql`
            insert into usage_entries (account_id, source, step, tool, call, kind, model_id,
              api_key_id, artist_id, input_tokens, cost_usd, created_at)
            select ${account}, 'source ' || floor(random() * 8), ${round}, floor(random() * 3) - 1, n,
              (array['chat', 'chat', 'chat', 'task', 'image'])[1 + floor(random() * 5)],
              'model-' || floor(random() * 2), case when random() < 0.5 then ${ids?.key}::uuid end,
              case when random() < 0.3 then ${ids?.artist}::uuid end, floor(random() * 100),
              case when random() < 0.7 then round(random()::numeric, 3) end,
              to_timestamp(${start / 1000}) + random() * interval '4 days'
            from generate_series(1, 6) n`;
          if (round % 3 > 0) {
            await transaction.call("sum_usage", { account_id: account, max: round * 3 });
          }
          if (round % 4 === 3) {
            await sql`delete from usage_entries where account_id = ${account} and random() < 0.1`;
            await sql`update usage_entries set cost_usd = 0.5, created_at = created_at - interval '6 hours'
              where account_id = ${account} and random() < 0.1
                and created_at > to_timestamp(${start / 1000}) + interval '6 hours'`;
          }
          if (round % 2 === 1) await expectSums(transaction, account, start);
        }
        await transaction.call("sum_usage", { account_id: account, max: 1000 });
        const [left] = await sql`
          select count(*)::int from usage_entries where account_id = ${account} and not is_summed`;
        expect(left?.count).toBe(0);
        await expectSums(transaction, account, start);
      }),
  );

  test("turns that record at the same time do not wait, and each entry is summed once", async () => {
    const id = randomUUID();
    await sql`insert into accounts (id, email) values (${id}, ${`${id}@example.com`})`;
    try {
      const record = (connection: Sql, step: number) =>
        connection`select record_usage(${id}, ${`source ${step % 5}`}, 'chat', null, null,
          ${connection.json([{ step, tool: 0, call: 0, model_id: `model-${step % 3}`, cost_usd: 0 }])})`;
      const sum = (connection: Sql) => connection`select sum_usage(${id}, 1000) as count`;
      await sql.begin(async (holder) => {
        await record(holder as unknown as Sql, 0);
        await sum(holder as unknown as Sql);
        // Another one has summed and is not committed.
        await record(sql, 1);
        expect(await sum(sql)).toEqual([{ count: 0 }]);
      });
      const steps = Array.from({ length: 100 }, (_, step) => step + 2);
      await Promise.all(steps.map((step) => record(sql, step)));
      await Promise.all([sum(sql), sum(sql), sum(sql)]);
      await sum(sql);
      const [sums] = await sql`
        select sum(steps)::int as steps, sum(runs)::int as runs, sum(model_runs)::int as model_runs
        from usage_days where account_id = ${id}`;
      expect(sums).toEqual({ steps: 102, runs: 5, model_runs: 15 });
    } finally {
      await sql`delete from accounts where id = ${id}`;
    }
    expect(await sql`select from usage_days where account_id = ${id}`).toHaveLength(0);
  });
});
