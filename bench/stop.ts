/**
 * How soon a stop is effective: from its request to the end of the turn's stream, when all is
 * stored, while a command runs in the sandbox. Against one request to a bare route.
 */
import { newChat, productTurn } from "./chat-client.ts";
import { type Bench, type BenchContext, quantile, report, timed } from "./context.ts";

const ROUNDS = 20;
/** The output of the running command, which its text does not contain. */
const PRINTED = "20345\\n";

export const benchStop: Bench = (context) => measureStops(context, "a stop in a command");

export async function measureStops(context: BenchContext, what: string): Promise<void> {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await stopCommand(context));
    theirs.push(await timed(async () => (await fetch(`${context.bareUrl}/api/nothing`)).text()));
  }
  report(`${what}, p50`, "ms", quantile(ours, 0.5), quantile(theirs, 0.5));
  report(`${what}, p95`, "ms", quantile(ours, 0.95), quantile(theirs, 0.95));
}

/** @returns milliseconds */
async function stopCommand(context: BenchContext): Promise<number> {
  const chat = await newChat(context);
  const turn = await productTurn(context, chat, "run `echo $((20000 + 345)); sleep 60`");
  if (!turn.body) throw new Error("The answer has no body");
  const decoder = new TextDecoder();
  let seen = "";
  let asked = Number.NaN;
  for await (const bytes of turn.body) {
    seen += decoder.decode(bytes, { stream: true });
    if (Number.isNaN(asked) && seen.includes(PRINTED)) {
      asked = performance.now();
      await fetch(`${context.url}/api/chat/${chat.chatId}/stop`, {
        method: "POST",
        headers: { "x-api-key": context.key },
      });
    }
  }
  return performance.now() - asked;
}
