/**
 * The cost of a turn with 200 deltas and of a step with a tool: CPU of the server and of
 * PostgreSQL, transactions, and bytes of the database's log. The bare route costs CPU only.
 * Finally, the memory of a process with running turns and readers.
 */
import { setTimeout as delay } from "node:timers/promises";
import postgres, { type Sql } from "postgres";
import { bareTurn, type Chat, newChat, productTurn, readTurn } from "./chat-client.ts";
import { type Bench, type BenchContext, report } from "./context.ts";
import { processesCpuMs, residentBytes } from "./peers/cpu-time.ts";

const TURNS = 100;
const AT_ONCE = 20;
const TOOL_STEPS = 10;
/** PostgreSQL reports its transactions once a second. */
const REPORT_MS = 1_500;
const TEXT = "count to 200";
const TOOLS = Array.from({ length: TOOL_STEPS }, (_, n) => `plan: item ${n}`).join("\n");
const RUNNING_TURNS = 100;
/** The stream of its request is one more. */
const FURTHER_READERS = 2;

export const benchCosts: Bench = async (context) => {
  const sql = postgres(context.databaseUrl, { max: 1 });
  try {
    const text = await costsOf(context, sql, TEXT);
    const tools = await costsOf(context, sql, TOOLS);
    const step = (pick: (costs: Costs) => number) => (pick(tools) - pick(text)) / TOOL_STEPS;
    report("a turn of 200 deltas: CPU", "ms", text.cpu, text.bareCpu);
    console.log(`  of which PostgreSQL ${text.postgres.toFixed(1)} ms; ${describe(text)}`);
    report(
      "a step with a tool: CPU",
      "ms",
      step(({ cpu }) => cpu),
      step(({ bareCpu }) => bareCpu),
    );
    const one = { commits: step(({ commits }) => commits), bytes: step(({ bytes }) => bytes) };
    console.log(
      `  of which PostgreSQL ${step((all) => all.postgres).toFixed(1)} ms; ${describe(one)}`,
    );
    await measureMemory(context);
  } finally {
    await sql.end();
  }
};

const describe = ({ commits, bytes }: Pick<Costs, "commits" | "bytes">) =>
  `${commits.toFixed(1)} transactions, ${(bytes / 1024).toFixed(1)} kB of log`;

/** Of one turn; CPU in milliseconds. */
interface Costs {
  readonly cpu: number;
  readonly postgres: number;
  readonly bareCpu: number;
  readonly commits: number;
  readonly bytes: number;
}

async function costsOf(context: BenchContext, sql: Sql, text: string): Promise<Costs> {
  const chats: Chat[] = [];
  while (chats.length < AT_ONCE) chats.push(await newChat(context));
  const ask = (turn: (chat: Chat) => Promise<Response>) =>
    inWaves(chats, async (chat) => readTurn(await turn(chat), 0));
  const ours = () => ask((chat) => productTurn(context, chat, text));
  const bare = () => ask(() => bareTurn(context, text));
  await ours();
  await bare();
  const [before, server, database] = [await databaseState(sql), ...cpuOf(context)];
  await ours();
  const [serverAfter, databaseAfter] = cpuOf(context);
  const after = await databaseState(sql);
  const bareBefore = processesCpuMs(context.barePid);
  await bare();
  const postgresMs = (databaseAfter - database) / TURNS;
  return {
    cpu: (serverAfter - server) / TURNS + postgresMs,
    postgres: postgresMs,
    bareCpu: (processesCpuMs(context.barePid) - bareBefore) / TURNS,
    commits: (after.commits - before.commits) / TURNS,
    bytes: (after.bytes - before.bytes) / TURNS,
  };
}

async function inWaves(chats: readonly Chat[], turn: (chat: Chat) => Promise<unknown>) {
  for (let done = 0; done < TURNS; done += chats.length) await Promise.all(chats.map(turn));
}

const cpuOf = ({ pid }: BenchContext): [number, number] => [
  processesCpuMs(pid),
  processesCpuMs("postgres"),
];

async function databaseState(sql: Sql): Promise<{ commits: number; bytes: number }> {
  await delay(REPORT_MS);
  const [row] = await sql`
    select xact_commit::float8 as commits,
      pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes
    from pg_stat_database where datname = current_database()`;
  return { commits: Number(row?.commits), bytes: Number(row?.bytes) };
}

/** Turns that wait for a command, each with open readers. */
async function measureMemory(context: BenchContext): Promise<void> {
  const idle = residentBytes(context.pid);
  const leave = new AbortController();
  const headers = { "x-api-key": context.key };
  for (let n = 0; n < RUNNING_TURNS; n++) {
    const chat = await newChat(context);
    await productTurn(context, chat, "run `sleep 60`");
    for (let reader = 0; reader < FURTHER_READERS; reader++) {
      await fetch(`${context.url}/api/chat/${chat.chatId}/stream`, {
        headers,
        signal: leave.signal,
      });
    }
  }
  const busy = residentBytes(context.pid);
  leave.abort();
  report(
    `memory with ${RUNNING_TURNS} turns and ${RUNNING_TURNS * (1 + FURTHER_READERS)} readers, against idle`,
    "MB",
    busy / 1024 ** 2,
    idle / 1024 ** 2,
  );
}
