/**
 * The cost of lists for a person with much data: 10,000 chats, a chat of 2,000 messages and 100,000
 * runs, against another person of the same server with ten of each.
 */

import type { Browser, Page } from "playwright-core";
import postgres, { type Sql } from "postgres";
import { type AuthSession, newContext, signIn, withBrowser } from "./console-browser.ts";
import { type Bench, type BenchContext, median, report, timed } from "./context.ts";

const FEW = { chats: 10, messages: 10, runs: 10 };
const MANY = { chats: 10_000, messages: 2_000, runs: 100_000 };
const REQUESTS = 60;
const PAGES = 5;
const WARM_UP = 2;

interface Person {
  readonly session: AuthSession;
  /** The path of the chat whose messages are counted. */
  readonly chatPath: string;
}

/** A list: its request, its page, and the element that shows the page has it. */
interface List {
  readonly name: string;
  readonly request: (person: Person) => string;
  readonly page: (person: Person) => string;
  readonly shown: (page: Page) => Promise<void>;
}

const lists: readonly List[] = [
  {
    name: `list of ${MANY.chats} chats`,
    request: () => "/api/chats?limit=40&pinned_first=true&archived=false",
    page: () => "/chat",
    shown: (page) =>
      page
        .getByRole("link", { name: /^Chat \d/ })
        .first()
        .waitFor(),
  },
  {
    name: `chat of ${MANY.messages} messages`,
    request: ({ chatPath }) => chatPath,
    page: ({ chatPath }) => chatPath.replace(/^\/api\/sessions\/(.*)\/chats\//, "/chat/$1/"),
    shown: (page) => page.getByRole("article").last().waitFor(),
  },
  {
    name: `list of ${MANY.runs} runs`,
    request: () => "/api/chat/runs?limit=25",
    page: () => "/runs",
    shown: (page) => page.getByRole("main").getByRole("listitem").first().waitFor(),
  },
];

export const benchLists: Bench = async (context) => {
  const sql = postgres(context.databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const few = await createPerson(context, sql, "few@example.com", FEW);
    const many = await createPerson(context, sql, "many@example.com", MANY);
    await sql`vacuum analyze`;
    for (const list of lists) {
      const [ours, theirs] = await inTurns(REQUESTS, many, few, (person) =>
        read(context, person, list.request(person)),
      );
      report(`${list.name}: response, against 10`, "ms", ours, theirs);
    }
    await withBrowser("lists", async (browser) => {
      for (const list of lists) {
        const [ours, theirs] = await inTurns(PAGES, many, few, (person) =>
          show(browser, context, person, list),
        );
        report(`${list.name}: page, against 10`, "ms", ours, theirs);
      }
    });
  } finally {
    await sql.end();
  }
};

/** Medians of both, measured alternately, which exposes both to the same load of the machine. */
async function inTurns(
  rounds: number,
  many: Person,
  few: Person,
  take: (person: Person) => Promise<number>,
): Promise<readonly [number, number]> {
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = -WARM_UP; round < rounds; round++) {
    const taken = [await take(many), await take(few)] as const;
    if (round < 0) continue;
    ours.push(taken[0]);
    theirs.push(taken[1]);
  }
  return [median(ours), median(theirs)];
}

const read = ({ url }: BenchContext, { session }: Person, path: string): Promise<number> =>
  timed(async () => {
    const headers = { authorization: `Bearer ${session.access_token}` };
    const response = await fetch(url + path, { headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  });

/** Milliseconds from the navigation until the list is shown. */
async function show(
  browser: Browser,
  { url }: BenchContext,
  person: Person,
  list: List,
): Promise<number> {
  const viewport = { width: 1440, height: 900 };
  const context = await newContext(browser, { session: person.session, url, viewport });
  const page = await context.newPage();
  const taken = await timed(async () => {
    await page.goto(url + list.page(person), { waitUntil: "commit" });
    await list.shown(page);
  });
  await context.close();
  return taken;
}

/** A person with that many chats, one of which has that many messages and runs. */
async function createPerson(
  context: BenchContext,
  sql: Sql,
  email: string,
  { chats, messages, runs }: typeof FEW,
): Promise<Person> {
  const session = await signIn(context, email);
  // The first request creates the account.
  await read(context, { session, chatPath: "" }, "/api/chats?limit=1");
  const [account] = await sql<{ id: string }[]>`select id from accounts where email = ${email}`;
  if (!account) throw new Error(`There is no account of ${email}`);
  await sql`
    create temporary table new_chats as
    select n, gen_random_uuid() as id, gen_random_uuid() as session_id,
      now() - make_interval(mins => n) as at
    from generate_series(1, ${chats}::int) n`;
  await sql`
    insert into sessions (id, account_id, title, created_at, updated_at)
    select session_id, ${account.id}, 'Session ' || n, at, at from new_chats`;
  await sql`
    insert into chats (id, session_id, account_id, title, model_id, created_at, updated_at)
    select id, session_id, ${account.id}, 'Chat ' || n, 'embedded/rules', at, at from new_chats`;
  await sql`
    insert into messages (chat_id, id, role, parts, created_at)
    select c.id, 'message-' || m, case when m % 2 = 0 then 'user' else 'assistant' end,
      jsonb_build_array(jsonb_build_object('type', 'text', 'state', 'done', 'text',
        case when m % 2 = 0 then 'Which territory pays late?'
          else '**Answer ' || m || '**' || E'\n\n- one\n- two\n\n'
            || repeat('A sentence of the usual length stands here. ', 6) end)),
      c.at + make_interval(secs => m)
    from new_chats c, generate_series(0, ${messages - 1}::int) m where c.n = 1`;
  await sql`
    insert into turns (id, account_id, session_id, chat_id, run_id, status, message_id,
      assistant_message_id, model_id, kind, created_at, finished_at)
    select gen_random_uuid(), ${account.id}, c.session_id, c.id, 'wrun_' || gen_random_uuid(),
      'completed', 'message-0', 'message-1', 'embedded/rules', 'chat', at.at, at.at
    from generate_series(1, ${runs}::int) r
    join new_chats c on c.n = 1 + r % ${chats}::int
    cross join lateral (select now() - make_interval(secs => r) as at) at`;
  const [first] = await sql<{ id: string; session_id: string }[]>`
    select id, session_id from new_chats where n = 1`;
  await sql`drop table new_chats`;
  return { session, chatPath: `/api/sessions/${first?.session_id}/chats/${first?.id}` };
}
