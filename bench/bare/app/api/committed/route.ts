import { randomUUID } from "node:crypto";
import { convertToModelMessages, type UIMessage } from "ai";
import postgres, { type Sql } from "postgres";
import { streamAnswer } from "../../../../../packages/agent/src/stream-answer.ts";
import { ask } from "../../ask.ts";

interface Turn {
  readonly id: string;
  readonly client: ReadableStreamDefaultController<Uint8Array>;
  /** Chunks that are in no write yet. */
  pending: string[];
  /** The number of committed chunks. */
  count: number;
  answer: string | null;
}

const encoder = new TextEncoder();
let database: Promise<Sql> | undefined;
const dirty = new Set<Turn>();
let isWriting = false;

/**
 * A chat turn with the minimum that makes it durable: its message is stored, each chunk is
 * committed before it is sent, in one write at a time for all turns, and its answer is stored.
 * There is no authentication, no limit and no process that takes over.
 */
export async function POST(request: Request): Promise<Response> {
  database ??= open();
  const sql = await database;
  const text = await request.text();
  const { messages }: { messages: UIMessage[] } = JSON.parse(text);
  const id = randomUUID();
  await sql`insert into bench.turns (id, messages) values (${id}, ${text})`;
  const converted = await convertToModelMessages(messages);
  const body = new ReadableStream<Uint8Array>({
    start(client) {
      const turn: Turn = { id, client, pending: [], count: 0, answer: null };
      const fail = (error: unknown) => client.error(error);
      const write = (chunk: unknown) => {
        turn.pending.push(JSON.stringify(chunk));
        dirty.add(turn);
        if (!isWriting) writeAll(sql).catch(fail);
      };
      write({ type: "start", messageId: id });
      write({ type: "start-step" });
      const { signal } = new AbortController();
      streamAnswer({ ...ask(), messages: converted, signal, write })
        .then((answer) => {
          if ("failure" in answer) throw answer.failure;
          write({ type: "finish-step" });
          // In one write with the last chunk.
          turn.answer = JSON.stringify(answer.messages);
          write({ type: "finish" });
        })
        .catch(fail);
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

async function open(): Promise<Sql> {
  const sql = postgres(process.env.DATABASE_URL ?? "", { max: 4, onnotice: () => {} });
  await sql.unsafe(`
    create schema if not exists bench;
    create table if not exists bench.turns (
      id uuid primary key, messages text not null, answer text);
    create table if not exists bench.chunks (
      turn uuid, first_index integer, data text not null, primary key (turn, first_index))`);
  return sql;
}

async function writeAll(sql: Sql): Promise<void> {
  isWriting = true;
  try {
    while (dirty.size > 0) await writeBatch(sql);
  } finally {
    isWriting = false;
  }
}

async function writeBatch(sql: Sql): Promise<void> {
  const batch = [...dirty].map((turn) => ({ ...turn, turn, chunks: turn.pending.splice(0) }));
  dirty.clear();
  await sql`
    with batch as (
      select * from unnest(
        ${batch.map(({ id }) => id)}::uuid[], ${batch.map(({ count }) => count)}::int[],
        ${batch.map(({ chunks }) => chunks.join("\n"))}::text[],
        ${batch.map(({ answer }) => answer)}::text[]
      ) as b (turn, first_index, data, answer)
    ), stored as (insert into bench.chunks select turn, first_index, data from batch)
    update bench.turns t set answer = b.answer from batch b
    where t.id = b.turn and b.answer is not null`;
  for (const { turn, chunks, answer } of batch) {
    turn.count += chunks.length;
    turn.client.enqueue(encoder.encode(`data: ${chunks.join("\n\ndata: ")}\n\n`));
    if (answer !== null) turn.client.close();
  }
}
