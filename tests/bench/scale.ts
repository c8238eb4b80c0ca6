/** What operations cost with more and more stored data, against the smallest amount in the same run. */
import postgres, { type Sql } from "postgres";
import { productTurn, provisionSandbox, readText, readTurn } from "./chat-client.ts";
import { type Bench, type BenchContext, median, report, timed } from "./context.ts";
import { accountOf } from "./fill-accounts.ts";
import { fillMessages, type Scale } from "./fill-messages.ts";
import { openTurn } from "./resume.ts";

const SCALES: readonly Scale[] = [
  { messages: 1_000, accounts: 10 },
  { messages: 100_000, accounts: 1_000 },
  { messages: 1_000_000, accounts: 10_000 },
];
const ROUNDS = 40;
const WARM_UP = 10;
const TEXT = "count to 200";
const compact = new Intl.NumberFormat("en", { notation: "compact" });

/** Milliseconds by name of the operation. */
type Costs = Map<string, number>;

export const benchScale: Bench = async (context) => {
  const sql = postgres(context.databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const accountId = await accountOf(sql, context);
    let before: Scale = { messages: 0, accounts: 0 };
    let smallest: Costs | undefined;
    for (const scale of SCALES) {
      const filling = await timed(() =>
        fillMessages(context.databaseUrl, accountId, before, scale),
      );
      const [size] = await sql<{ text: string }[]>`
        select pg_size_pretty(pg_database_size(current_database())) as text`;
      const what = `${compact.format(scale.messages)} messages of ${compact.format(scale.accounts)} accounts`;
      console.log(`${what}: ${size?.text}, filled in ${(filling / 1_000).toFixed(0)} s`);
      // The first pass at the smallest size warms up what all sizes share.
      if (!smallest) await measure(context, sql, accountId);
      const costs = await measure(context, sql, accountId);
      smallest ??= costs;
      for (const [name, ms] of costs) {
        report(
          `${compact.format(scale.messages)}: ${name}`,
          "ms",
          ms,
          smallest.get(name) ?? Number.NaN,
        );
      }
      before = scale;
    }
  } finally {
    await sql.end();
  }
};

async function measure(context: BenchContext, sql: Sql, accountId: string): Promise<Costs> {
  const costs: Costs = new Map();
  await measureTurns(context, sql, accountId, costs);
  await measureResume(context, costs);
  const chats = await someChats(sql, accountId);
  const sessions = chats.map(({ sessionId }) => `/api/sessions/${sessionId}`);
  const reads: Record<string, readonly string[]> = {
    "chat of 20 messages": chats.map(
      ({ sessionId, chatId }) => `/api/sessions/${sessionId}/chats/${chatId}`,
    ),
    "a session": sessions,
    "list of sessions": ["/api/sessions"],
    "list of sessions, second page": [await secondPage(context)],
    "list of a session's chats": sessions.map((path) => `${path}/chats`),
    "list of task runs": ["/api/tasks/runs"],
  };
  for (const [name, paths] of Object.entries(reads)) {
    costs.set(
      name,
      await medianOf((round) => readText(context, paths[round % paths.length] ?? "")),
    );
  }
  costs.set(
    "sweep of expired rows",
    await medianOf(() => sql`select sweep_rows(1000, 1000, 1000)`),
  );
  return costs;
}

/** Chats of the account, spread over all its filled ones. */
async function someChats(sql: Sql, accountId: string) {
  return sql<{ sessionId: string; chatId: string }[]>`
    select session_id as "sessionId", id as "chatId" from chats
    where account_id = ${accountId} and title = 'A question about the release'
    order by md5(id::text) limit ${ROUNDS + WARM_UP}`;
}

/** Each turn continues another chat that has 20 messages. */
async function measureTurns(
  context: BenchContext,
  sql: Sql,
  accountId: string,
  costs: Costs,
): Promise<void> {
  const first: number[] = [];
  const total: number[] = [];
  const chats = await someChats(sql, accountId);
  // Before, because a sandbox warms up in the background.
  for (const { sessionId } of chats) await provisionSandbox(context, sessionId);
  for (const [round, chat] of chats.entries()) {
    const started = performance.now();
    const turn = await readTurn(await productTurn(context, chat, TEXT), started);
    await sql`delete from messages where chat_id = ${chat.chatId} and id not like 'message-%'`;
    if (round < WARM_UP) continue;
    first.push(turn.first);
    total.push(turn.total);
  }
  costs.set("turn of 200 deltas: first delta", median(first));
  costs.set("turn of 200 deltas: whole turn", median(total));
}

async function measureResume(context: BenchContext, costs: Costs): Promise<void> {
  const turn = await openTurn(context);
  try {
    costs.set("resume of 1000 chunks", await medianOf(() => turn.resume()));
  } finally {
    await turn.stop();
  }
}

async function secondPage(context: BenchContext): Promise<string> {
  const { next_cursor } = JSON.parse(await readText(context, "/api/sessions"));
  return `/api/sessions?${new URLSearchParams({ cursor: next_cursor })}`;
}

async function medianOf(work: (round: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const took = await timed(() => work(round + WARM_UP));
    if (round >= 0) times.push(took);
  }
  return median(times);
}
