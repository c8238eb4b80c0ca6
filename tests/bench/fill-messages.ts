/** Fills the database with conversations of many accounts. */
import postgres, { type Sql } from "postgres";

export interface Scale {
  readonly messages: number;
  readonly accounts: number;
}

const MESSAGES_PER_SESSION = 40;
/** These sessions, and one in a hundred of all others, belong to the benchmark's account. */
const FIRST_OWN_SESSIONS = 25;

/**
 * Adds what is missing from `from` to `to`: sessions with two chats of 20 messages, which have 30 bytes
 * to 7 KB of text, with the turns, a chunk log of each chat and a task run of each session. Some accounts
 * own many sessions and most own few.
 */
export async function fillMessages(
  databaseUrl: string,
  accountId: string,
  from: Scale,
  to: Scale,
): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    // Skips the checks of foreign keys, which take most of the time. All rows refer to each other.
    await sql`set session_replication_role = replica`;
    await sql`
      insert into accounts (kind, email, name)
      select 'personal', 'scale' || n || '@example.com', 'scale ' || n
      from generate_series(${from.accounts}::int, ${to.accounts - 1}::int) n`;
    const first = from.messages / MESSAGES_PER_SESSION + 1;
    const last = to.messages / MESSAGES_PER_SESSION;
    await addSessions(sql, accountId, first, last, to.accounts);
    await addMessages(sql);
    await addTurns(sql);
    await addTaskRuns(sql);
  } finally {
    await sql.end();
  }
  await settle(databaseUrl);
}

async function addSessions(
  sql: Sql,
  accountId: string,
  first: number,
  last: number,
  accounts: number,
): Promise<void> {
  await sql`
    create temporary table new_sessions as
    select n, gen_random_uuid() as id, now() - make_interval(mins => n) as created_at,
      case when n <= ${FIRST_OWN_SESSIONS} or n % 100 = 0 then ${accountId}::uuid
        else a.id end as account_id
    from generate_series(${first}::int, ${last}::int) n
    join accounts a on a.name = 'scale ' || floor(${accounts}::int * (n * 0.618034 % 1) ^ 2)`;
  await sql`
    insert into sessions (id, account_id, title, created_at, updated_at)
    select id, account_id, 'Session ' || n, created_at, created_at from new_sessions`;
  await sql`
    create temporary table new_chats as
    select gen_random_uuid() as id, s.id as session_id, s.account_id,
      s.created_at + make_interval(secs => m) as created_at
    from new_sessions s, generate_series(0, 1) m`;
  await sql`
    insert into chats (id, session_id, account_id, title, model_id, created_at, updated_at)
    select id, session_id, account_id, 'A question about the release', 'embedded/rules', created_at,
      created_at
    from new_chats`;
}

/** Each second message is an answer, and one in ten answers is long. Text that does not compress well. */
async function addMessages(sql: Sql): Promise<void> {
  await sql`
    create temporary table samples as
    select k, case when k % 2 = 0 then 'user' else 'assistant' end as role,
      jsonb_build_array(jsonb_build_object('type', 'text', 'state', 'done', 'text', (
        select string_agg(md5(k || ':' || w), ' ') from generate_series(1, case
          when k % 2 = 0 then 1 + k % 7 when k % 20 = 1 then 200 else 10 + k % 30 end) w))) as parts
    from generate_series(0, 99) k`;
  await sql`
    insert into messages (chat_id, id, role, parts, metadata, created_at)
    select c.id, 'message-' || m, s.role, s.parts,
      case when s.role = 'assistant' then '{"modelId": "embedded/rules", "durationMs": 42,
        "finishReason": "stop", "usage": {"inputTokens": 900, "outputTokens": 120}}'::jsonb end,
      c.created_at + make_interval(secs => m)
    from new_chats c cross join generate_series(0, 19) m
    join samples s on s.k = (m + 2 * (hashtext(c.id::text) & 63)) % 100
    order by c.created_at, m`;
}

async function addTurns(sql: Sql): Promise<void> {
  await sql`
    insert into turns (id, account_id, session_id, chat_id, run_id, status, message_id,
      assistant_message_id, model_id, created_at, finished_at)
    select gen_random_uuid(), c.account_id, c.session_id, c.id, 'wrun_' || gen_random_uuid(),
      'completed', 'message-' || m, 'message-' || m + 1, 'embedded/rules', c.created_at, c.created_at
    from new_chats c, generate_series(0, 18, 2) m`;
  await sql`
    insert into engine.chunks (stream, first_index, count, data, eof)
    select id, 0, 20, repeat('{"type":"text-delta","id":"0","delta":"word "}' || chr(10), 20), true
    from new_chats`;
}

const addTaskRuns = (sql: Sql) => sql`
  insert into task_runs (id, account_id, status, task_identifier, created_at, started_at, finished_at,
    tags, payload, output)
  select 'run_' || replace(id::text, '-', ''), account_id, 'COMPLETED', 'generate-video', created_at,
    created_at, created_at, array['account:' || account_id],
    '{"prompt": "A slow pan over the harbor at dawn"}',
    '{"videoSourceUrl": "https://example.com/video.mp4"}'
  from new_sessions`;

/** Does at once what the database would otherwise do in the background of the measurements. */
async function settle(databaseUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1 });
  try {
    await sql`vacuum analyze`;
    await sql`checkpoint`;
  } finally {
    await sql.end();
  }
}
