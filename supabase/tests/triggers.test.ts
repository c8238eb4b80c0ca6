/** The events of triggers that the retention job removes. */
import { expect, test } from "vitest";
import { createCompactions, createRows } from "./rows.ts";
import { rolledBack } from "./transaction.ts";

test("events are kept for seven days, and longer while their runs wait to start", async () => {
  await rolledBack(async (transaction) => {
    const { sql } = transaction;
    const account = await transaction.account();
    const rows = await createRows(transaction, account);
    await createCompactions(transaction, account, rows);
    await sql`delete from trigger_events where account_id = ${account}`;
    await sql`insert into trigger_events (id, account_id, trigger_id, size, sha256, event_id, content, created_at)
      select gen_random_uuid(), ${account}, ${rows.trigger}, 2, '', e.name, e.content, now() - e.age
      from (values ('new', null, interval '50000 days'), ('old', null, interval '50002 days'),
        ('waits', '{}', interval '50002 days')) as e (name, content, age)`;
    expect(
      await transaction.call("sweep_rows", { kind: "trigger_events", batch: 5, days: 50_001 }),
    ).toBe(1);
    const kept = await sql`select event_id from trigger_events
      where account_id = ${account} order by event_id`;
    expect(kept.map((event) => event.event_id)).toEqual(["new", "waits"]);
  });
});
