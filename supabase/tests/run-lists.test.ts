import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { rolledBack } from "./transaction.ts";

const page = {
  limit: 25,
  after_at: "9999-12-31T23:59:59Z",
  after_id: "ffffffff-ffff-ffff-ffff-ffffffffffff",
};
const none = { status: null, kind: null, chat_id: null, artist_id: null, since: null };

test("a page of twenty thousand runs reads no more rows than it has, with each filter", async () => {
  await rolledBack(async (transaction) => {
    const { sql } = transaction;
    const account_id = await transaction.account();
    const [session, chat, otherChat, artist] = [
      randomUUID(),
      randomUUID(),
      randomUUID(),
      randomUUID(),
    ];
    await sql`insert into sessions (id, account_id) values (${session}, ${account_id})`;
    await sql`insert into chats (id, session_id, account_id)
      select id, ${session}, ${account_id} from unnest(${[chat, otherChat]}::uuid[]) id`;
    await sql`insert into turns (id, account_id, session_id, chat_id, run_id, status, kind, artist_id,
        message_id, assistant_message_id, model_id, created_at, finished_at)
      select gen_random_uuid(), ${account_id}, ${session},
        case when n % 1000 = 0 then ${otherChat}::uuid else ${chat}::uuid end, 'wrun_' || n,
        case when n % 1000 = 1 then 'failed' else 'completed' end,
        case when n % 1000 = 2 then 'task' else 'chat' end,
        case when n % 1000 = 3 then ${artist}::uuid end,
        'm', 'a', 'auto', now() - n * interval '1 minute', now()
      from generate_series(1, 20000) n`;
    await sql`insert into turn_skills (turn_id, account_id, name, source)
      select id, account_id, case when kind = 'task' then 'setlist' else 'split-sheet' end, 'account'
      from turns where account_id = ${account_id}`;
    await sql`analyze public.turns, public.turn_skills`;
    const list = (filters: object) => () =>
      transaction.call("list_runs", { account_id, ...page, ...none, ...filters });
    const since = new Date(Date.now() - 3_600_000);
    for (const [filters, count] of [
      // One more than the page, which shows that there is another page.
      [{}, 26],
      [{ since }, 26],
      [{ status: "failed" }, 20],
      [{ kind: "task" }, 20],
      [{ chat_id: otherChat }, 20],
      [{ artist_id: artist }, 20],
      [{ skill: "split-sheet" }, 26],
      [{ skill: "setlist" }, 20],
    ] as const) {
      expect(await transaction.rowsRead("turns", list(filters))).toBeLessThan(100);
      expect(await list(filters)()).toHaveLength(count);
    }
    // Which of two filters is the rarer one is for the planner to know.
    const failedTasks = list({ status: "failed", kind: "task" });
    expect(await transaction.rowsRead("turns", failedTasks)).toBeLessThan(100);
  });
});

test("what waits, and a page with pinned chats first, are found among many chats without reading them", async () => {
  await rolledBack(async (transaction) => {
    const { sql } = transaction;
    const account_id = await transaction.account();
    const session = randomUUID();
    await sql`insert into sessions (id, account_id) values (${session}, ${account_id})`;
    await sql`insert into chats (session_id, account_id, created_at, asks_since, pinned)
      select ${session}, ${account_id}, now() - n * interval '1 minute',
        case when n % 5000 = 0 then now() end, n % 5000 = 1
      from generate_series(1, 20000) n`;
    await sql`insert into messages (chat_id, id, role, parts, metadata)
      select id, 'a', 'assistant', '[]', '{"finishReason": "tool-calls"}' from chats
      where account_id = ${account_id} and asks_since is not null`;
    await sql`analyze public.chats`;
    const list = (filters: object) => () =>
      transaction.call("list_account_chats", {
        ...{ account_id, ...page, artist_id: null, archived: null, pinned: null, text: null },
        ...filters,
      });
    for (const [filters, count] of [
      [{ waiting: true }, 4],
      [{ pinned_first: true }, 26],
    ] as const) {
      expect(await transaction.rowsRead("chats", list(filters))).toBeLessThan(100);
      expect(await list(filters)()).toHaveLength(count);
    }
    const count = () => transaction.call("count_waiting", { account_id });
    expect(await transaction.rowsRead("chats", count)).toBeLessThan(100);
    expect(await count()).toBe(4);
  });
});
