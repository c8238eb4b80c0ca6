/**
 * Starts the durable run of a turn: one that has just been claimed, and one that waited until its chat was free.
 * Continues one that waited for its client.
 */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { drain, runPeriodically } from "@platform/kit/drain";
import { log } from "@platform/kit/log";
import { count } from "@platform/kit/telemetry/metrics";
import { continueTrace, inSpan, traceparent } from "@platform/kit/telemetry/spans";
import { waitUntil } from "@vercel/functions";
import { TURN_WORKFLOW } from "../engine/workflow-names.ts";
import type { RunCredentialForm } from "../identity/keys/derive-run-credential.ts";
import type { Parts } from "../parts.ts";
import { abandonTurn } from "./store/claims.ts";
import { beginQueuedTurn, dequeueTurn, queuedChats, takeOverClaim } from "./store/queued-turns.ts";
import { turnsToWake } from "./store/runs.ts";

/**
 * Starts the durable run of a claimed turn, which continues the current trace.
 * @param credential the form of the credential that the turn's sandbox gets
 */
export function startWorkflow(
  { engine }: Parts<"engine">,
  turnId: string,
  credential: RunCredentialForm,
): Promise<string> {
  const trace = traceparent();
  const input = { turnId, credential, ...(trace !== undefined && { traceparent: trace }) };
  return inSpan("turn.start", { attributes: { "app.turn.id": turnId } }, () =>
    engine.startWorkflow(TURN_WORKFLOW, input),
  );
}

/** The answer of a process that is about to exit. Clients repeat the request, at another process. */
export const draining: AppError = appError("unavailable", "Service temporarily unavailable", {
  headers: { "retry-after": "1" },
});

const SWEEP_SECONDS = 5;
const BATCH = 50;

/**
 * Starts the turn that has waited longest in a chat, if the chat is free. Never rejects, because the
 * timer of any process finds a turn that is not started now. Keeps a function on Vercel alive until it
 * resolves.
 */
export function unblockQueuedTurn(app: Parts<"db" | "engine">, chatId: string): Promise<void> {
  const started = startNext(app, chatId).catch((error: unknown) =>
    log().warn({ err: error, chatId }, "a queued turn could not be started"),
  );
  waitUntil(started);
  return started;
}

async function startNext(app: Parts<"db" | "engine">, chatId: string): Promise<void> {
  if (drain().hasBegun) return;
  // The turn does not belong to the trace of the one before it.
  await continueTrace(undefined, async () => {
    const turn = await beginQueuedTurn(app.db, chatId, app.engine.processId);
    if (turn === null) return;
    await startWorkflow(app, turn.turnId, turn.credential);
    await dequeueTurn(app.db, turn.turnId);
    count("agent_platform.turns.started", 1, { kind: "chat" });
  });
}

/** Starts the runs of turns whose process has died after their claim. */
async function takeOverClaims({ db, engine }: Parts<"db" | "engine">): Promise<void> {
  const { processId } = engine;
  if (processId === null) return;
  for (
    let turn = await takeOverClaim(db, processId);
    turn;
    turn = await takeOverClaim(db, processId)
  ) {
    const { turnId, credential } = turn;
    await startWorkflow({ engine }, turnId, credential).catch(async (error: unknown) => {
      await abandonTurn(db, turnId);
      throw error;
    });
    await dequeueTurn(db, turnId);
  }
}

/**
 * Starts turns that other processes have left behind, by a timer of this process, and wakes those whose client
 * has not answered, or whose process has died before it woke them.
 */
export function scheduleQueuedTurns(app: Parts<"db" | "engine">): void {
  runPeriodically("queued turns", SWEEP_SECONDS, async () => {
    const chatIds = await continueTrace(undefined, () => queuedChats(app.db, BATCH));
    for (const chatId of chatIds) await unblockQueuedTurn(app, chatId);
    await continueTrace(undefined, () => takeOverClaims(app));
    const turnIds = await continueTrace(undefined, () => turnsToWake(app.db, BATCH, SWEEP_SECONDS));
    for (const turnId of turnIds) await app.engine.wake(turnId);
  });
}
