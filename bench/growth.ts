/**
 * The cost of requests for an account of 100,000 chats, 1,000,000 messages and 200,000 runs beside
 * 1,000 accounts of 100 chats, against the same account with ten chats; and whether turns wait
 * while old rows, or the account, are deleted. `GROWTH_SIZE=0.1` fills a tenth.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import postgres, { type Sql } from "postgres";
import { Agent, fetch } from "undici";
import { formatKey, hashKey, PREFIX_LENGTH } from "../lib/identity/keys/key-format.ts";
import { newChat, productTurn, provisionSandbox, readText, readTurn } from "./chat-client.ts";
import { type Bench, type BenchContext, median, quantile, report, timed } from "./context.ts";
import { fillAccounts } from "./fill-accounts.ts";
import { createTexts, fillChats, withoutWords, words } from "./fill-growth.ts";

const SIZE = Number(process.env.GROWTH_SIZE ?? 1);
const SMALL = { from: 0, to: 10, messages: 10 };
const LARGE = { from: 10, to: 100_000 * SIZE, messages: 10 };
const OTHERS = { from: 0, to: 100 * SIZE, messages: 2 };
const EMAIL = "growth@example.com";
const ROUNDS = 15;
const WARM_UP = 5;

/** Milliseconds by name of the request. */
type Costs = Map<string, number>;

export const benchGrowth: Bench = async (given) => {
  const sql = postgres(given.databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const { accountId, key } = await createAccount(sql, given.env.API_KEY_SECRET ?? "");
    const context = { ...given, key };
    await createTexts(sql);
    await fillChats(sql, accountId, SMALL);
    await sql`vacuum analyze`;
    await checkShapes(context, sql, accountId);
    await measure(context, sql, accountId);
    const small = await measure(context, sql, accountId);

    const filling = await timed(() =>
      withoutWords(sql, async () => {
        await fillAccounts(sql);
        const others = await sql<
          { id: string }[]
        >`select id from accounts where name like 'bench %'`;
        for (const { id } of others) await fillChats(sql, id, OTHERS);
        await fillChats(sql, accountId, LARGE);
      }),
    );
    await settle(sql);
    const [stored] = await sql<{ text: string }[]>`
      select pg_size_pretty(pg_database_size(current_database())) as text`;
    console.log(
      `${LARGE.to} chats of ${LARGE.messages} messages: ${stored?.text}, filled in ${(filling / 1_000).toFixed(0)} s`,
    );
    await measure(context, sql, accountId);
    for (const [name, ms] of await measure(context, sql, accountId))
      report(name, "ms", ms, small.get(name) ?? Number.NaN);

    const alone = await turnsDuring(given, async () => {
      await delay(10_000);
    });
    const retention = await turnsDuring(given, () => sweepOldRows(sql));
    reportWaits("retention", retention, alone);
    const deletion = await turnsDuring(given, () => deleteAccount(context));
    reportWaits("the deletion of the account", deletion, alone);
  } finally {
    await sql.end();
  }
};

async function createAccount(
  sql: Sql,
  secret: string,
): Promise<{ accountId: string; key: string }> {
  const key = formatKey(randomBytes(32));
  const hash = hashKey(key, secret);
  await sql`select public.create_key_of_email(${EMAIL}, 'Growth', ${hash}, ${key.slice(0, PREFIX_LENGTH)})`;
  const [row] = await sql<
    { account_id: string }[]
  >`select account_id from api_keys where hash = ${hash}`;
  return { accountId: row?.account_id ?? "", key };
}

/** Does the background work of the database and the retention job at once. */
async function settle(sql: Sql): Promise<void> {
  await sql`vacuum analyze`;
  await sql`checkpoint`;
}

/** Compares a filled row of each kind with one that the API has made: the same columns must have values. */
async function checkShapes(context: BenchContext, sql: Sql, accountId: string): Promise<void> {
  const chat = await newChat(context);
  await readTurn(await productTurn(context, chat, "hello"), 0);
  const differences = await sql<{ kind: string; columns: string }[]>`
    with rows as (
      select 'session' as kind, id as chat_or_session, to_jsonb(s) as row, id = ${chat.sessionId} as is_made from sessions s where account_id = ${accountId}
      union all select 'chat', id, to_jsonb(c), id = ${chat.chatId} from chats c where account_id = ${accountId}
      union all select 'message of ' || m.role, c.id, to_jsonb(m), c.id = ${chat.chatId} from messages m join chats c on c.id = m.chat_id where c.account_id = ${accountId}
      union all select 'turn', chat_id, to_jsonb(t), chat_id = ${chat.chatId} from turns t where account_id = ${accountId}
      union all select 'usage', null, to_jsonb(e), model_id not like 'model-%' from usage_entries e where account_id = ${accountId}),
    columns as (
      select kind, is_made, string_agg(distinct k.key, ' ' order by k.key) as columns
      from rows, jsonb_object_keys(jsonb_strip_nulls(row)) k (key)
      -- Of the sandbox of the turn, of its credential, and of how it was started.
      where k.key not in ('sandbox_state', 'sandbox_bytes', 'sandbox_reserved_at', 'key_id', 'caller_key_id', 'api_key_id', 'client_tools', 'skills', 'cost_usd')
      group by kind, is_made)
    select a.kind, a.columns || ' | ' || b.columns as columns from columns a join columns b using (kind)
    where a.is_made and not b.is_made and a.columns <> b.columns`;
  if (differences.length > 0)
    throw new Error(`Filled rows have other columns: ${JSON.stringify(differences)}`);
}

async function measure(context: BenchContext, sql: Sql, accountId: string): Promise<Costs> {
  const costs: Costs = new Map();
  const chats = await sql<{ sessionId: string; chatId: string }[]>`
    select session_id as "sessionId", id as "chatId" from chats c
    where account_id = ${accountId} and exists (select from messages m where m.chat_id = c.id and m.id = 'message-9')
    order by md5(id::text) limit 10`;
  const search = (q: string | undefined, more = "") =>
    `/api/chats?${new URLSearchParams({ q: q ?? "" })}${more}`;
  const from = `from=${new Date(Date.now() - 90 * 86_400_000).toISOString()}`;
  const month = new Date().toISOString().slice(0, 7);
  const reads: Record<string, readonly string[]> = {
    "search: the most frequent word": [search(words[0])],
    "search: a frequent word": [search(words[40])],
    "search: a word that is less frequent": [search(words[1_000])],
    "search: a rare word": [search(words[7_900])],
    "search: two words": [search(`${words[3]} ${words[300]}`)],
    "search: the beginning of words": [search(words[40]?.slice(0, 2))],
    "search: the beginning, pinned first": [
      search(words[40]?.slice(0, 2), "&pinned_first=true&archived=false"),
    ],
    "search: a frequent word, filtered": [search(words[40], "&archived=true")],
    "search: a word that is nowhere": [search("zxqvkjwq")],
    "search: a word with a typing error": [search(`${words[3_000]}x`)],
    "search: a frequent word, a late page": [
      search(words[40], `&cursor=${await lateCursor(context, "/api/chats?limit=100")}`),
    ],
    "usage of the days": [`/api/usage?${from}`],
    "usage of models, by kind": [`/api/usage?${from}&group_by=model&split_by=kind`],
    "usage since the 1st, 12:34": [`/api/usage?from=${month}-01T12:34:00Z`],
    "list of chats": ["/api/chats"],
    "list of chats, a late page": [
      `/api/chats?cursor=${await lateCursor(context, "/api/chats?limit=100")}`,
    ],
    "list of chats, pinned first": ["/api/chats?pinned_first=true&archived=false"],
    "list of chats that wait": ["/api/chats?waiting=true"],
    "list of sessions": ["/api/sessions"],
    "an open chat": chats.map(
      ({ sessionId, chatId }) => `/api/sessions/${sessionId}/chats/${chatId}`,
    ),
    "list of runs": ["/api/chat/runs"],
    "list of failed runs": ["/api/chat/runs?status=failed"],
    "list of runs, a late page": [
      `/api/chat/runs?cursor=${await lateCursor(context, "/api/chat/runs?limit=100")}`,
    ],
    "list of requests": ["/api/requests"],
  };
  for (const [name, paths] of Object.entries(reads)) {
    costs.set(
      name,
      await medianOf((round) => readText(context, paths[round % paths.length] ?? "")),
    );
  }
  // Before, because a sandbox warms up in the background.
  for (const { sessionId } of chats) await provisionSandbox(context, sessionId);
  costs.set(
    "a turn",
    await medianOf(async (round) => {
      const chat = chats[round % chats.length];
      if (chat) await readTurn(await productTurn(context, chat, "hello"), 0);
    }),
  );
  await sql`delete from messages m using chats c
    where c.id = m.chat_id and c.account_id = ${accountId} and m.id not like 'message-%'`;
  return costs;
}

/** The cursor of the 30th page, or the last. */
async function lateCursor(context: BenchContext, path: string): Promise<string> {
  let cursor = "";
  for (let page = 0; page < 30; page++) {
    const { next_cursor } = JSON.parse(
      await readText(context, `${path}${cursor && `&cursor=${cursor}`}`),
    );
    if (!next_cursor) break;
    cursor = encodeURIComponent(next_cursor);
  }
  return (
    cursor ||
    encodeURIComponent(
      JSON.parse(await readText(context, path.replace("limit=100", "limit=1"))).next_cursor,
    )
  );
}

async function medianOf(work: (round: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const took = await timed(() => work(round + WARM_UP));
    if (round >= 0) times.push(took);
  }
  return median(times);
}

interface Waits {
  /** Milliseconds of each turn. */
  readonly turns: readonly number[];
  /** The longest time in milliseconds that anyone has waited for a lock, as seen every few milliseconds. */
  readonly longestLock: number;
}

/** Makes turns of another account, one after another, while the work lasts. */
async function turnsDuring(context: BenchContext, work: () => Promise<void>): Promise<Waits> {
  const chat = await newChat(context);
  const turns: number[] = [];
  const monitor = postgres(context.databaseUrl, { max: 1 });
  let longestLock = 0;
  let isOver = false;
  const ended = work().finally(() => {
    isOver = true;
  });
  ended.catch(() => {});
  const watched = (async () => {
    while (!isOver) {
      const [lock] = await monitor<{ ms: number }[]>`
        select coalesce(max(extract(epoch from clock_timestamp() - waitstart)) * 1000, 0)::float as ms
        from pg_locks where not granted`;
      longestLock = Math.max(longestLock, lock?.ms ?? 0);
      await delay(5);
    }
  })();
  while (!isOver) {
    turns.push(await timed(async () => readTurn(await productTurn(context, chat, "hello"), 0)));
  }
  await Promise.all([ended, watched]);
  await monitor.end();
  return { turns, longestLock };
}

function reportWaits(what: string, waits: Waits, alone: Waits): void {
  for (const [name, q] of [
    ["p50", 0.5],
    ["p99", 0.99],
    ["longest", 1],
  ] as const) {
    const row = `a turn during ${what}, of ${waits.turns.length}: ${name}`;
    report(row, "ms", quantile(waits.turns, q), quantile(alone.turns, q));
  }
  report(`the longest wait for a lock during ${what}`, "ms", waits.longestLock, alone.longestLock);
}

/** As the retention job does, with the rows of half of the time. */
async function sweepOldRows(sql: Sql): Promise<void> {
  const days = 14;
  for (let count = 1; count > 0; ) {
    const [row] = await sql<{ count: number }[]>`
      select sweep_rows('run_traces', 1000, ${days}) + sweep_rows('requests', 1000, ${days}) as count`;
    await sql`select sweep_rows('task_run_inputs', 1000, 30)`;
    count = row?.count ?? 0;
  }
}

async function deleteAccount({ url, key }: BenchContext): Promise<void> {
  // It may take minutes.
  const dispatcher = new Agent({ headersTimeout: 0 });
  const response = await fetch(`${url}/api/accounts/me`, {
    dispatcher,
    method: "DELETE",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ confirm: EMAIL }),
  });
  if (!response.ok)
    throw new Error(`The account was not deleted: ${response.status} ${await response.text()}`);
}
