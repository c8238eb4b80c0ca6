/** Fills the database with the chats, messages, runs, usage and requests of accounts. */
import type { Sql } from "postgres";

export interface Chats {
  /** Numbers of chats, the newest first: chat n is n times `PERIOD / count` old. */
  readonly from: number;
  readonly to: number;
  readonly messages: number;
}

const PERIOD_DAYS = 28;
const RUNS_OF_CHAT = 2;
const BATCH = 2_000;
const TEXTS = 20_000;
const WORDS = 8_000;
const NAMES = 4_000;

/** Words by their rank: the first is in nearly every text. */
export const words: readonly string[] = makeWords(WORDS, 1);
const names = makeWords(NAMES, 2).map((name) => `${name[0]?.toUpperCase()}${name.slice(1)}ov`);

/** A generator of equal numbers in each run (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function makeWords(count: number, seed: number): string[] {
  const next = random(seed);
  const pick = (list: readonly string[]) => list[Math.floor(next() * list.length)];
  const onsets = "b br c ch d f fl g gr h j k l m n p pr r s st t tr v w".split(" ");
  const vowels = "a e i o u ai ea ou".split(" ");
  const ends = ["", "", "n", "r", "s", "l", "t", "nd", "ng"];
  const found = new Set<string>();
  while (found.size < count) {
    const syllables = 1 + Math.floor(Math.sqrt(found.size / count) * 2 + next() * 2);
    found.add(
      Array.from({ length: syllables }, () => `${pick(onsets)}${pick(vowels)}${pick(ends)}`).join(
        "",
      ),
    );
  }
  return [...found];
}

/** Picks with the frequencies of words in texts: the one of rank r is 1 / (r + 2.7) as frequent as the first. */
function zipf<T>(list: readonly T[], next: () => number): () => T {
  const sums: number[] = [];
  for (const rank of list.keys()) sums.push((sums.at(-1) ?? 0) + 1 / (rank + 3.7));
  const total = sums.at(-1) ?? 0;
  return () => {
    const wanted = next() * total;
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return list[low] as T;
  };
}

/** Creates the texts that all messages are made of: even ones of users, odd ones of the assistant. */
export async function createTexts(sql: Sql): Promise<void> {
  const next = random(3);
  const [word, name] = [zipf(words, next), zipf(names, next)];
  const texts = Array.from({ length: TEXTS }, (_, n) => {
    const length = n % 2 === 0 ? 6 + next() * 24 : 30 + next() * 120;
    const text = Array.from({ length }, () => (next() < 0.03 ? name() : word())).join(" ");
    return n % 2 === 0
      ? [{ type: "text", text }]
      : [{ type: "step-start" }, { type: "text", state: "done", text }];
  });
  await sql`create temporary table texts (n integer primary key, parts jsonb)`;
  for (let start = 0; start < TEXTS; start += 1_000) {
    await sql`insert into texts select n - 1 + ${start}::int, part
      from jsonb_array_elements(${sql.json(texts.slice(start, start + 1_000))}) with ordinality p (part, n)`;
  }
}

/**
 * Runs the work without the index and the trigger of words, which take most of the time. The index is built again, and
 * the words of the accounts are added, with the same rows as a result.
 */
export async function withoutWords(sql: Sql, work: () => Promise<void>): Promise<void> {
  const [index] = await sql<{ text: string }[]>`
    select pg_get_indexdef('public.messages_search'::regclass) as text`;
  await sql`drop index public.messages_search`;
  await sql`alter table messages disable trigger note_words_of_message`;
  await work();
  await sql`alter table messages enable trigger note_words_of_message`;
  await sql`set maintenance_work_mem = '2GB'`;
  await sql.unsafe(index?.text ?? "");
  await sql`
    insert into account_words (account_id, word)
    select m.account_id, w.word
    -- Many messages of an account have the same text.
    from (select distinct on (account_id, md5(parts::text)) account_id, parts from messages) m,
      unnest(tsvector_to_array(search_of_parts(m.parts))) w (word)
    where length(w.word) between 2 and 40
      and not exists (select from account_words k where k.account_id = m.account_id and k.word = w.word)
    group by m.account_id, w.word order by count(*) desc`;
}

/** Adds chats of one account, each in its session. Triggers measure, count and index the rows as always. */
export async function fillChats(
  sql: Sql,
  accountId: string,
  { from, to, messages }: Chats,
): Promise<void> {
  for (let first = from; first < to; first += BATCH) {
    const last = Math.min(first + BATCH, to) - 1;
    await sql.begin(async (transaction) => {
      await fillBatch(transaction as unknown as Sql, accountId, {
        first,
        last,
        messages,
        count: to,
      });
    });
  }
}

async function fillBatch(
  sql: Sql,
  accountId: string,
  {
    first,
    last,
    messages,
    count,
  }: { first: number; last: number; messages: number; count: number },
): Promise<void> {
  await sql`
    create temporary table new_chats on commit drop as
    select n, gen_random_uuid() as id, gen_random_uuid() as session_id,
      now() - n * make_interval(days => ${PERIOD_DAYS}) / ${count}::int - interval '1 minute' as at,
      initcap(w.title) as title
    from generate_series(${first}::int, ${last}::int) n
    cross join lateral (
      select array_to_string((string_to_array(parts -> 0 ->> 'text', ' '))[:4], ' ') as title from texts
      where texts.n = 2 * (hashint4(n) & 8191)) w`;
  await sql`
    insert into sessions (id, account_id, title, created_at, updated_at)
    select session_id, ${accountId}, title, at, at from new_chats`;
  await sql`
    insert into chats (id, session_id, account_id, title, model_id, created_at, updated_at, last_assistant_message_at)
    select id, session_id, ${accountId}, title, 'embedded/rules', at, at, at from new_chats`;
  await sql`
    insert into messages (chat_id, id, role, parts, facts, metadata, created_at, parent_id)
    select c.id, 'message-' || m, case when m % 2 = 0 then 'user' else 'assistant' end, t.parts,
      case when m % 2 = 0 then '{}'::jsonb end,
      case when m % 2 = 1 then '{"modelId": "embedded/rules", "durationMs": 42,
        "finishReason": "stop", "usage": {"inputTokens": 900, "outputTokens": 120, "totalTokens": 1020}}'::jsonb end,
      c.at + make_interval(secs => m), case when m = 0 then '' else 'message-' || m - 1 end
    from new_chats c cross join generate_series(0, ${messages - 1}::int) m
    join texts t on t.n = m % 2 + 2 * (((hashint4(c.n * 31 + m) & 2147483647)) % ${TEXTS / 2}::int)
    order by c.at, m`;
  await sql`
    create temporary table new_runs on commit drop as
    select gen_random_uuid() as id, c.session_id, c.id as chat_id, r, c.at + make_interval(secs => 2 * r) as at
    from new_chats c, generate_series(0, ${Math.min(RUNS_OF_CHAT, messages / 2) - 1}::int) r`;
  await sql`
    insert into turns (id, account_id, session_id, chat_id, run_id, status, message_id,
      assistant_message_id, model_id, created_at, finished_at, loads, facts, claimed_by)
    select id, ${accountId}, session_id, chat_id, 'wrun_' || id, 'completed', 'message-' || 2 * r,
      'message-' || 2 * r + 1, 'embedded/rules', at, at, 1, '{}', gen_random_uuid() from new_runs`;
  await sql`
    insert into run_traces (turn_id, account_id, steps, created_at)
    select id, ${accountId}, jsonb_build_array(jsonb_build_object('index', 0, 'finish_reason', 'stop', 'model_id',
      'embedded/rules', 'tool_calls', '[]'::jsonb, 'usage', '{}'::jsonb)), at from new_runs`;
  await sql`
    insert into usage_entries (account_id, source, step, tool, call, kind, model_id, api_key_id,
      input_tokens, output_tokens, cost_usd, created_at)
    select ${accountId}, id::text, s, 0, 0, (array['chat', 'headless', 'task'])[1 + (hashtext(id::text) & 1)],
      'model-' || s, null, 900, 120, 0.001, at
    from new_runs, generate_series(0, 1) s`;
  await sql`
    insert into requests (id, account_id, method, route, status, duration_ms, credential, request_id, created_at)
    select gen_random_uuid(), ${accountId}, 'POST', '/api/chat', 200, 20, 'bearer', id::text, at from new_runs`;
}
