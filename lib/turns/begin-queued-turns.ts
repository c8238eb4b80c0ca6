import { drain } from "../platform/drain.ts";
import { runPeriodically } from "../platform/run-periodically.ts";
import { count } from "../platform/telemetry/metrics.ts";
import { continueTrace } from "../platform/telemetry/spans.ts";
import { startWorkflow } from "./start-turn.ts";
import { beginQueuedTurn, chatsToBegin, settleQueuedTurn } from "./store/queued-turns.ts";
import { turnQueue } from "./turn-queue.ts";

const SWEEP_SECONDS = 5;
const BATCH = 50;

/** Begins the turn that waits longest in a chat, if the chat is free. */
async function beginNext(chatId: string): Promise<void> {
  if (drain().hasBegun) return;
  // The turn belongs to no trace of the one before it.
  await continueTrace(undefined, async () => {
    const turn = await beginQueuedTurn(chatId);
    if (turn === null) return;
    await startWorkflow(turn.turnId, turn.credential);
    await settleQueuedTurn(turn.turnId);
    count("agent_platform.turns.started", 1, { kind: "chat" });
  });
}

/** Begins what other processes have left behind. */
async function sweep(): Promise<void> {
  const chatIds = await continueTrace(undefined, () => chatsToBegin(BATCH));
  for (const chatId of chatIds) await turnQueue().wake(chatId);
}

/** Lets this process begin turns that wait for their chat: after each turn's end, and by a timer. */
export function scheduleQueuedTurns(): void {
  turnQueue().begin = beginNext;
  runPeriodically("turn queue", SWEEP_SECONDS, sweep);
}
