/** Resume of a running turn of 1,000 chunks, against a bare route that streams as many. */
import { bareTurn, newChat, productTurn, readTurn } from "./chat-client.ts";
import { type Bench, type BenchContext, median, report } from "./context.ts";

const ROUNDS = 20;
const WARM_UP = 5;
const DELTAS = 1_000;

export const benchResume: Bench = async (context) => {
  const turn = await openTurn(context);
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const our = await turn.resume();
    const started = performance.now();
    const their = await readTurn(await bareTurn(context, `count to ${DELTAS}`), started);
    if (round < 0) continue;
    ours.push(our);
    bare.push(their.total);
  }
  report(`resume of ${DELTAS} chunks against streaming them`, "ms", median(ours), median(bare));
  await turn.stop();
};

/** Starts a turn of 1,000 deltas and reads them all; the turn stays open until `stop`. */
async function openTurn(context: BenchContext) {
  const chat = await newChat(context);
  // The command keeps the turn open after its text, as long as the bench reads it again and again.
  const turn = await productTurn(context, chat, `count to ${DELTAS}, then run \`sleep 100\``);
  const reader = turn.body?.getReader();
  await seen(reader, '"toolName":"bash"');
  return {
    resume: () => resume(context, chat.chatId),
    async stop() {
      await fetch(`${context.url}/api/chat/${chat.chatId}/stop`, {
        method: "POST",
        headers: { "x-api-key": context.key },
      });
      await reader?.cancel();
    },
  };
}

/** @returns milliseconds until every chunk that is there has been read. */
async function resume({ url, key }: BenchContext, chatId: string): Promise<number> {
  const started = performance.now();
  const response = await fetch(`${url}/api/chat/${chatId}/stream`, {
    headers: { "x-api-key": key },
  });
  const tail = response.headers.get("x-workflow-stream-tail-index");
  const reader = response.body?.getReader();
  await seen(reader, `id: ${tail}\n`);
  const took = performance.now() - started;
  await reader?.cancel();
  return took;
}

async function seen(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  text: string,
): Promise<void> {
  const decoder = new TextDecoder();
  let tail = "";
  while (!tail.includes(text)) {
    const next = await reader?.read();
    if (!next || next.done) throw new Error(`The stream ended before ${text}`);
    // A match may lie across two reads.
    tail = tail.slice(-200) + decoder.decode(next.value, { stream: true });
  }
}
