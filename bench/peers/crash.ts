/**
 * Whether a turn outlives its server: kill -9 in its second model call, after a tool and some deltas;
 * then a new start, and no client asks again.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { FakeOpenAI } from "../../tests/support/fakes/openai.ts";
import { deltas } from "../../tests/support/fakes/openai.ts";
import { noOp } from "./no-op.ts";
import type { Target } from "./target.ts";

const SEEN = 20;
/** The one that asks for a tool, and the one that is cut. */
const CALLS_BEFORE = 2;
/** Longer than LangGraph's development server takes to write its state. */
const BEFORE_KILL_MS = 4_000;
/** Longer than any lease of a run that these servers have: 30 s. */
const DEADLINE_MS = 45_000;

/**
 * @returns after how many milliseconds from the new server's first answer it asked the model to go
 * on; undefined when it did not within 45 s, and the turn is lost
 */
export async function recoveryOf(target: Target, model: FakeOpenAI): Promise<number | undefined> {
  const script = `crash-${target.name.replaceAll(/\W+/g, "-")}`;
  model.script(script, function* (call) {
    if (call.step === 0) return yield noOp(call);
    yield* deltas(SEEN);
    if (model.callsOf(script).length === CALLS_BEFORE) yield { hang: true };
  });
  const server = await target.start();
  const turn = await server.converse();
  const reading = (async () => {
    const { body } = await turn(`[script:${script}]`);
    for await (const _ of body ?? []);
  })().catch(() => {});
  await delay(BEFORE_KILL_MS);
  await server.kill();
  await reading;
  const { length: calls } = model.callsOf(script);
  if (calls !== CALLS_BEFORE) throw new Error(`${target.name} asked the model ${calls} times`);
  const again = await target.start();
  const started = performance.now();
  try {
    while (performance.now() - started < DEADLINE_MS) {
      if (model.callsOf(script).length > CALLS_BEFORE) return performance.now() - started;
      await delay(20);
    }
    return undefined;
  } finally {
    await again.kill();
  }
}
