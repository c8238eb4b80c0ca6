/** The cost of durability for a chat turn: the same model, streamed directly by a bare route. */
import { bareTurn, type Chat, newChat, productTurn, readTurn } from "./chat-client.ts";
import { type Bench, type BenchContext, median, quantile, report, timed } from "./context.ts";

const ROUNDS = 60;
const TOOL_ROUNDS = 15;
const WARM_UP = 10;
const AT_ONCE = 50;
const WAVES = 4;
export const TEXT = "count to 200";
const TOOLS = Array.from({ length: 10 }, (_, n) => `plan: item ${n}`).join("\n");

export const benchTurns: Bench = async (context) => {
  await turnAfterTurn(context, "text of 200 deltas", TEXT, ROUNDS);
  await turnAfterTurn(context, "10 tool calls and an answer", TOOLS, TOOL_ROUNDS);
  await manyAtOnce(context);
};

export async function turnAfterTurn(
  context: BenchContext,
  what: string,
  text: string,
  rounds: number,
) {
  const ours: Awaited<ReturnType<typeof readTurn>>[] = [];
  const bare: Awaited<ReturnType<typeof readTurn>>[] = [];
  // A new chat each time: a history would be loaded and sent to the model, the bare route has none.
  // Made before, because a sandbox warms up in the background.
  const chats: Chat[] = [];
  while (chats.length < rounds + WARM_UP) chats.push(await newChat(context));
  for (const [round, chat] of chats.entries()) {
    const oursStarted = performance.now();
    const our = await readTurn(await productTurn(context, chat, text), oursStarted);
    const bareStarted = performance.now();
    const their = await readTurn(await bareTurn(context, text), bareStarted);
    if (round < WARM_UP) continue;
    ours.push(our);
    bare.push(their);
  }
  const both = (pick: (turn: { first: number; total: number }) => number, q: number) =>
    [quantile(ours.map(pick), q), quantile(bare.map(pick), q)] as const;
  report(`${what}: first delta, p50`, "ms", ...both((turn) => turn.first, 0.5));
  report(`${what}: first delta, p95`, "ms", ...both((turn) => turn.first, 0.95));
  report(`${what}: whole turn, p50`, "ms", ...both((turn) => turn.total, 0.5));
}

async function manyAtOnce(context: BenchContext) {
  const chats = await Promise.all(Array.from({ length: AT_ONCE }, () => newChat(context)));
  const perSecond = (ms: number) => (1000 * AT_ONCE) / ms;
  const ours: number[] = [];
  const bare: number[] = [];
  for (let wave = -2; wave < WAVES; wave++) {
    const our = await timed(() =>
      Promise.all(chats.map(async (chat) => readTurn(await productTurn(context, chat, TEXT), 0))),
    );
    const their = await timed(() =>
      Promise.all(chats.map(async () => readTurn(await bareTurn(context, TEXT), 0))),
    );
    if (wave < 0) continue;
    ours.push(perSecond(our));
    bare.push(perSecond(their));
  }
  report(`${AT_ONCE} turns of 200 deltas at once`, "/s", median(ours), median(bare));
}
