import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { z } from "zod";
import { rolledBack } from "./transaction.ts";

const page = {
  limit: 20,
  after_at: "9999-12-31T23:59:59Z",
  after_id: "ffffffff-ffff-ffff-ffff-ffffffffffff",
};
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
    await sql`select gin_clean_pending_list('public.messages_search')`;
    await sql`analyze public.chats`;
    await sql`analyze public.messages`;
    const list = (filters: object) => () =>
      transaction.call("list_account_chats", { account_id, ...page, ...none, ...filters });
    expect(await transaction.rowsRead("chats", list({}))).toBeLessThan(50);
    expect(await transaction.rowsRead("chats", list({ pinned: true }))).toBeLessThan(50);
    const first = { pinned_first: true, archived: false };
    expect(await transaction.rowsRead("chats", list(first))).toBeLessThan(50);
    expect(await transaction.rowsRead("chats", list({ archived: true }))).toBeLessThan(50);
    // The newest 50 chats are read first.
    expect(await transaction.rowsRead("messages", list({ text: "needle" }))).toBeLessThan(100);
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
    await sql`select gin_clean_pending_list('public.messages_search')`;
    await sql`analyze public.chats`;
    await sql`analyze public.messages`;
    const search = () =>
      transaction.call("list_account_chats", { account_id, ...page, ...none, text: "the" });
    // The messages of its own chats, and again for the displayed passages.
    expect(await transaction.rowsRead("messages", search)).toBeLessThan(500);
  });
});

test("a text that very many messages have is found in the newest chats, and in old ones without newer", async () => {
  await rolledBack(async (transaction) => {
    const { sql } = transaction;
    const account_id = await transaction.account();
    const session = randomUUID();
    await sql`insert into sessions (id, account_id) values (${session}, ${account_id})`;
    await sql`insert into chats (session_id, account_id, title, created_at)
      select ${session}, ${account_id}, 'chat ' || n, now() - n * interval '1 minute'
      from generate_series(1, 1100) n`;
    // The newest chats lack "old", and all have "always".
    await sql`insert into messages (chat_id, id, role, parts)
      select id, 'm' || n, 'user', jsonb_build_array(jsonb_build_object('type', 'text', 'text',
        case when n % 2 = 0 or substr(title, 6)::int <= 1050 then 'always' else 'always old' end))
      from chats, generate_series(1, case when substr(title, 6)::int <= 1050 then 1 else 400 end) n
      where account_id = ${account_id}`;
    const titles = async (text: string, more: object = {}) => {
      const args = { account_id, ...page, ...none, text, limit: 3, ...more };
      return z
        .array(z.looseObject({ title: z.string() }))
        .parse(await transaction.call("list_account_chats", args))
        .map(({ title }) => title);
    };
    const search = () => titles("always");
    expect(await transaction.rowsRead("messages", search)).toBeLessThan(25_000);
    expect(await search()).toEqual(["chat 1", "chat 2", "chat 3", "chat 4"]);
    const old = ["chat 1051", "chat 1052", "chat 1053", "chat 1054"];
    expect(await titles("old")).toEqual(old);
    expect(await titles("ol")).toEqual(old);
    expect(await titles("always old")).toEqual(old);
    const [last] = await sql`select id, created_at from chats
      where account_id = ${account_id} and title = 'chat 1098'`;
    const cursor = { after_at: last?.created_at, after_id: last?.id };
    expect(await titles("always", cursor)).toEqual(["chat 1099", "chat 1100"]);
    expect(await titles("always", { archived: true })).toEqual([]);
  });
});

test("words are known as long as a message or a title has them", async () => {
  await rolledBack(async (transaction) => {
    const { sql } = transaction;
    // The job takes the first account: this transaction must not touch other tests' accounts, which
    // would wait.
    const account_id = await transaction.account(randomUUID().replace(/^.{8}/, "00000000"));
    const [session, first, second] = [randomUUID(), randomUUID(), randomUUID()];
    await sql`insert into sessions (id, account_id) values (${session}, ${account_id})`;
    await sql`insert into chats (id, session_id, account_id, title) values
      (${first}, ${session}, ${account_id}, 'Budgets'), (${second}, ${session}, ${account_id}, 'Tours')`;
    await sql`insert into messages (chat_id, id, role, parts) values
      (${first}, 'm', 'user', '[{"type": "text", "text": "royalty harbor''s \\\\path"}]'),
      (${second}, 'm', 'user', '[{"type": "text", "text": "royalty"}]')`;
    const words = async () => {
      const due = () => sql`
        select from message_usage where account_id = ${account_id} and checked_words_to is not null`;
      while ((await due()).length > 0) {
        expect(await transaction.call("sweep_words", { batch: 2 })).toBe(2);
      }
      const rows =
        await sql`select word from account_words where account_id = ${account_id} order by word`;
      return rows.map(({ word }) => word);
    };
    expect(await words()).toEqual(["budgets", "harbor", "path", "royalty", "tours"]);
    await sql`update messages set parts = '[{"type": "text", "text": "royalty harbor"}]'
      where chat_id = ${first}`;
    expect(await words()).toEqual(["budgets", "harbor", "royalty", "tours"]);
    await sql`update chats set title = 'Tours' where id = ${first}`;
    expect(await words()).toEqual(["harbor", "royalty", "tours"]);
    await sql`delete from chats where id = ${first}`;
    expect(await words()).toEqual(["royalty", "tours"]);
    const search = { account_id, ...page, ...none, text: "harbro" };
    expect(await transaction.call("list_account_chats", search)).toEqual([]);
  });
});
