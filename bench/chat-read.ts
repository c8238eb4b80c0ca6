/**
 * The cost of reading a chat of 1,000 messages: the endpoint against the query under it. And the
 * cost of a history for a turn: in a chat of 100 messages against a new one.
 */
import postgres from "postgres";
import { type Chat, newChat, productTurn, readText, readTurn } from "./chat-client.ts";
import { type Bench, type BenchContext, median, report, timed } from "./context.ts";

const MESSAGES = 1_000;
const MESSAGES_OF_TURN = 100;
const TURNS = 30;
const ROUNDS = 60;
const WARM_UP = 15;

export const benchChatRead: Bench = async (context) => {
  const sql = postgres(context.databaseUrl, { max: 1 });
  try {
    const { sessionId, chatId } = await newChat(context);
    const path = `/api/sessions/${sessionId}/chats/${chatId}`;
    const rows = () => sql`
      select id, role, parts, metadata, created_at from messages
      where chat_id = ${chatId} order by created_at, id`;
    const body = () => sql`
      select get_chat_body_page(account_id, session_id, id, null, null, 100000000)
      from chats where id = ${chatId}`;

    const empty = await side(() => readText(context, path), rows);
    report("chat without messages: GET against the query", "ms", ...empty);

    await fill(sql, chatId, MESSAGES);
    const size = (await readText(context, path)).length;
    const what = `chat of ${MESSAGES} messages, ${(size / 1e6).toFixed(1)} MB`;
    report(
      `${what}: GET against the query`,
      "ms",
      ...(await side(() => readText(context, path), rows)),
    );
    report(`${what}: of which the database's function`, "ms", ...(await side(body, rows)));
    const identity = () => readText(context, path, { "accept-encoding": "identity" });
    report(`${what}: GET without gzip`, "ms", ...(await side(identity, rows)));
    await measureHistory(context, sql);
  } finally {
    await sql.end();
  }
};

/** Medians of both, measured alternately, which exposes both to the same load of the machine. */
async function side(
  ours: () => Promise<unknown>,
  bare: () => Promise<unknown>,
): Promise<[number, number]> {
  const [our, their]: [number[], number[]] = [[], []];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const times = [await timed(ours), await timed(bare)] as const;
    if (round < 0) continue;
    our.push(times[0]);
    their.push(times[1]);
  }
  return [median(our), median(their)];
}

async function measureHistory(context: BenchContext, sql: postgres.Sql): Promise<void> {
  const sides = { long: [] as number[], fresh: [] as number[] };
  // A new chat each time, because a turn adds to the history. Made before, because a sandbox warms up in the background.
  const chats: { readonly of: keyof typeof sides; readonly chat: Chat }[] = [];
  while (chats.length < 2 * (WARM_UP + TURNS)) {
    const long = await newChat(context);
    await fill(sql, long.chatId, MESSAGES_OF_TURN);
    chats.push({ of: "long", chat: long }, { of: "fresh", chat: await newChat(context) });
  }
  for (const [place, { of, chat }] of chats.entries()) {
    const startedAt = performance.now();
    const { first } = await readTurn(await productTurn(context, chat, "Thanks"), startedAt);
    if (place >= 2 * WARM_UP) sides[of].push(first);
  }
  const what = `a turn after ${MESSAGES_OF_TURN} messages against a first one: first delta, p50`;
  report(what, "ms", median(sides.long), median(sides.fresh));
}

/** Questions of a line, answers with a tool call, its output and a paragraph. */
async function fill(sql: postgres.Sql, chatId: string, messages: number): Promise<void> {
  const call = { type: "tool-bash", toolCallId: "call_1", state: "output-available" };
  const output = { exitCode: 0, stdout: "total 12\n".repeat(30), stderr: "", truncated: false };
  const answer = [
    { type: "step-start" },
    { ...call, input: { command: "ls -la" }, output },
    { type: "text", text: 'The folder holds "three" files – as said.\n'.repeat(12), state: "done" },
  ];
  const question = [{ type: "text", text: "What is in the folder now?" }];
  const usage = { inputTokens: 900, outputTokens: 120, totalTokens: 1020 };
  const metadata = { modelId: "embedded/rules", usage, durationMs: 42, finishReason: "stop" };
  await sql`
    insert into messages (chat_id, id, role, parts, metadata)
    select ${chatId}::uuid, gen_random_uuid()::text,
      case when n % 2 = 0 then 'user' else 'assistant' end,
      case when n % 2 = 0 then ${sql.json(question)}::jsonb else ${sql.json(answer)}::jsonb end,
      case when n % 2 = 1 then ${sql.json(metadata)}::jsonb end
    from generate_series(1, ${messages}::int) n`;
}
