/** Starts turns that wait until their chat is free. */
import { waitUntil } from "@vercel/functions";
import { drain, runPeriodically } from "../platform/drain.ts";
import { log } from "../platform/log.ts";
import { count } from "../platform/telemetry/metrics.ts";
import { continueTrace } from "../platform/telemetry/spans.ts";
import { startWorkflow } from "./start-workflow.ts";
import { beginQueuedTurn, chatsToBegin, settleQueuedTurn } from "./store/queued-turns.ts";

const SWEEP_SECONDS = 5;
const BATCH = 50;

/**
 * Starts the turn that has waited longest in a chat, if the chat is free. Never rejects, because the
 * timer of any process finds a turn that is not started now. Keeps a function on Vercel alive until it
 * resolves.
 */
export function unblockQueuedTurn(chatId: string): Promise<void> {
  const started = startNext(chatId).catch((error: unknown) =>
    log().warn({ err: error, chatId }, "a queued turn could not be started"),
  );
  waitUntil(started);
  return started;
}

async function startNext(chatId: string): Promise<void> {
  if (drain().hasBegun) return;
  // The turn does not belong to the trace of the one before it.
  await continueTrace(undefined, async () => {
    const turn = await beginQueuedTurn(chatId);
    if (turn === null) return;
    await startWorkflow(turn.turnId, turn.credential);
    await settleQueuedTurn(turn.turnId);
    count("agent_platform.turns.started", 1, { kind: "chat" });
  });
}

/** Starts turns that other processes have left behind, by a timer of this process. */
export function scheduleQueuedTurns(): void {
  runPeriodically("queued turns", SWEEP_SECONDS, async () => {
    const chatIds = await continueTrace(undefined, () => chatsToBegin(BATCH));
    for (const chatId of chatIds) await unblockQueuedTurn(chatId);
  });
}
