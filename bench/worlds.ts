/**
 * The cost of turns on the Worlds of the Workflow SDK, through the generic adapter, against the same bare
 * route as `turns`; and how soon a turn continues after a kill, from the moment the next server is ready.
 */
import { freePort } from "../scripts/free-port.ts";
import { type RunningNext, runNext } from "../scripts/run-next.ts";
import { worlds } from "../tests/support/harness/worlds.ts";
import { newChat, productTurn } from "./chat-client.ts";
import { type Bench, type BenchContext, median, quantile, timed } from "./context.ts";
import { measureStops } from "./stop.ts";
import { TEXT, turnAfterTurn } from "./turns.ts";

const ROUNDS = 30;
const KILLS = 3;

export const benchWorlds: Bench = async (context) => {
  for (const world of worlds) {
    const port = await freePort();
    const env = {
      ...context.env,
      ...(await world.prepare(context.databaseUrl, context.env.DATA_DIR ?? "")),
      WORKFLOW_TARGET_WORLD: world.name,
      PUBLIC_URL: `http://127.0.0.1:${port}`,
    };
    const distDir = process.env.NEXT_DIST_DIR || ".next";
    const start = () => runNext({ mode: "start", port, distDir, env, output: "collect" });
    let server = await start();
    try {
      const there = { ...context, url: server.url };
      await turnAfterTurn(there, `${world.name}: 200 deltas`, TEXT, ROUNDS);
      await measureStops(there, `${world.name}: a stop in a command`);
      const taken: number[] = [];
      for (let round = 0; round < KILLS; round++) {
        const cut = await cutTurn(there, server);
        server = await start();
        taken.push(await untilNextChunk(there, cut));
      }
      const what = `${world.name}: next chunk after a kill, p50 and worst of ${KILLS}`;
      console.log(`${what}: ${median(taken).toFixed(0)} ms, ${quantile(taken, 1).toFixed(0)} ms`);
    } finally {
      await server.stop();
    }
  }
};

/** A turn whose server was killed, and how many chunks its client had. */
interface CutTurn {
  readonly chatId: string;
  readonly seen: number;
}

async function cutTurn(context: BenchContext, server: RunningNext): Promise<CutTurn> {
  const chat = await newChat(context);
  const { body } = await productTurn(context, chat, "run `sleep 60`");
  if (!body) throw new Error("The answer has no body");
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of body) {
    text += decoder.decode(bytes, { stream: true });
    if (text.includes('"type":"tool-input-available"')) break;
  }
  server.kill("SIGKILL");
  await server.died;
  return { chatId: chat.chatId, seen: text.split("\ndata: ").length - 1 };
}

/** Returns after how many milliseconds the client has the next chunk. */
async function untilNextChunk(context: BenchContext, { chatId, seen }: CutTurn): Promise<number> {
  const url = `${context.url}/api/chat/${chatId}/stream?startIndex=${seen}`;
  return timed(async () => {
    const { body } = await fetch(url, { headers: { "x-api-key": context.key } });
    const decoder = new TextDecoder();
    for await (const bytes of body ?? []) {
      if (decoder.decode(bytes).includes("data: ")) return;
    }
    throw new Error("The turn did not go on");
  });
}
