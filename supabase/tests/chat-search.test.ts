import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { rolledBack } from "./transaction.ts";

const page = { limit: 20, after_at: null, after_id: null };
const none = { artist_id: null, archived: null, pinned: null, text: null };

test("a page of ten thousand chats reads no more rows than it has, with each filter", async () => {
  await rolledBack(async (transaction) => {
    const { sql } = transaction;
    const account_id = await transaction.account();
    const session = randomUUID();
    await sql`insert into sessions (id, account_id) values (${session}, ${account_id})`;
    await sql`insert into chats (session_id, account_id, title, created_at, pinned, archived)
      select ${session}, ${account_id}, 'chat ' || n, now() - n * interval '1 minute',
        n % 1000 = 0, n % 1000 = 1
      from generate_series(1, 10000) n`;
    await sql`insert into messages (chat_id, id, role, parts)
      select id, 'm', 'user', jsonb_build_array(jsonb_build_object('type', 'text', 'text',
        case when title = 'chat 7777' then 'a needle' else 'hay ' || title end))
      from chats where account_id = ${account_id}`;
    // As vacuum does: the planner shuns an index with many entries that are not merged yet.
    await sql`select gin_clean_pending_list('public.messages_words')`;
    await sql`analyze public.chats`;
    await sql`analyze public.messages`;
    const list = (filters: object) => () =>
      transaction.call("list_account_chats", { account_id, ...page, ...none, ...filters });
    expect(await transaction.rowsRead("chats", list({}))).toBeLessThan(50);
    expect(await transaction.rowsRead("chats", list({ pinned: true }))).toBeLessThan(50);
    const first = { pinned_first: true, archived: false };
    expect(await transaction.rowsRead("chats", list(first))).toBeLessThan(50);
    expect(await transaction.rowsRead("chats", list({ archived: true }))).toBeLessThan(50);
    expect(await transaction.rowsRead("messages", list({ text: "needle" }))).toBeLessThan(50);
    expect(await list({ text: "needle" })()).toMatchObject([
      { title: "chat 7777", snippet: "a needle" },
    ]);
    // A typing error reads no more than the newest messages, however many there are.
    await sql`update chats set created_at = now() where account_id = ${account_id} and title = 'chat 7777'`;
    const misspelled = list({ text: "nedle" });
    expect(await transaction.rowsRead("messages", misspelled)).toBeLessThan(5_100);
    expect(await misspelled()).toMatchObject([{ title: "chat 7777", matched: "needle" }]);
    const long = list({ text: "nedle ".repeat(16).trim() });
    expect(await long()).toMatchObject([{ title: "chat 7777" }]);
  });
});

test("a page of what is not archived reads no more rows than it has, where nearly all is", async () => {
  await rolledBack(async (transaction) => {
    const { sql } = transaction;
    const account_id = await transaction.account();
    // As in any database, the index of such chats has far more live entries than dead ones.
    for (const owner of [await transaction.account(), account_id]) {
      const session = randomUUID();
      await sql`insert into sessions (id, account_id) values (${session}, ${owner})`;
      await sql`insert into chats (session_id, account_id, title, created_at, pinned, archived)
        select ${session}, ${owner}, 'chat ' || n, now() - n * interval '1 minute', n = 1,
          ${owner === account_id} and n between 2 and 9999
        from generate_series(1, 10000) n`;
    }
    await sql`analyze public.chats`;
    const filters = { ...none, archived: false, pinned: false };
    const list = () => transaction.call("list_account_chats", { account_id, ...page, ...filters });
    expect(await list()).toMatchObject([{ title: "chat 10000" }]);
    expect(await transaction.rowsRead("chats", list)).toBeLessThan(50);
  });
});

test("a word that is frequent elsewhere reads no messages of other accounts", async () => {
  await rolledBack(async (transaction) => {
    const { sql } = transaction;
    const account_id = await transaction.account();
    const sessions = [];
    for (const [owner, chats] of [
      [await transaction.account(), 500],
      [account_id, 5],
    ] as const) {
      const session = randomUUID();
      sessions.push(session);
      await sql`insert into sessions (id, account_id) values (${session}, ${owner})`;
      await sql`insert into chats (session_id, account_id, title)
        select ${session}, ${owner}, 'chat ' || n from generate_series(1, ${chats}) n`;
    }
    await sql`insert into messages (chat_id, id, role, parts)
      select c.id, 'm' || n, 'user', jsonb_build_array(jsonb_build_object('type', 'text', 'text',
        'the label ' || repeat('plays a song ', 20) || n))
      from chats c, generate_series(1, 20) n where c.session_id = any (${sessions}::uuid[])`;
    await sql`select gin_clean_pending_list('public.messages_words')`;
    await sql`analyze public.chats`;
    await sql`analyze public.messages`;
    const search = () =>
      transaction.call("list_account_chats", { account_id, ...page, ...none, text: "the" });
    // The messages of its own chats, and again for the passages that are shown.
    expect(await transaction.rowsRead("messages", search)).toBeLessThan(500);
  });
});
