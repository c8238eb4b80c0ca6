import type { UIMessageChunk } from "ai";
import type { TurnAddress, TurnLog } from "../engine/port.ts";
import type { ActiveTurn } from "../running-turn/state.ts";
import { type EndParts, finishStream, partsBefore, turnMetadata } from "./finish-stream.ts";
import { readWholeLog } from "./replay-turn.ts";
import { loadTurn } from "./store/turns.ts";

/** Ends the turn as failed, or as cancelled when a stop was requested. */
export async function failTurn(
  app: EndParts,
  log: TurnLog,
  turnId: string,
  turn: ActiveTurn,
  reason: string,
  lastParts: readonly UIMessageChunk[] = [],
): Promise<void> {
  const stopped = turn.stop_requested;
  await finishStream(app, log, {
    accountId: turn.account_id,
    turnId,
    load: turn.load,
    messageId: turn.assistant_message_id,
    end: stopped ? "cancelled" : "failed",
    error: stopped ? null : reason,
    metadata: turnMetadata(turn, turn.steps, stopped ? "interrupted" : "error"),
    partsBefore: partsBefore(turn),
    steering: turn.steering,
    openQuestions: new Set(),
    lastStep: null,
    lastParts,
  });
}

/**
 * Ends a turn whose run no longer exists although the chat still names it as active, as after a loss of
 * the engine's data. The streamed part of its answer is stored, and its files by the next turn of the session.
 * @returns whether the chat is free now.
 */
export async function reapDeadTurn(app: EndParts, { turnId, runId }: TurnAddress) {
  if (runId === null || (await app.engine.runState(runId)) === "running") return false;
  const turn = await loadTurn(app.db, turnId, runId, true);
  if (turn.outcome !== "active") return true;
  const { chunks } = await readWholeLog(app, { turnId, runId });
  await failTurn(app, detachedLog(chunks), turnId, turn, "The turn was lost");
  return true;
}

/** Returns a log in memory, because the engine no longer has the turn's own. */
function detachedLog(chunks: string[]): TurnLog {
  return {
    failed: new AbortController().signal,
    committed: () => chunks,
    append: (more) => void chunks.push(...more),
    flushed: async () => {},
    close: async () => {},
    release: () => {},
  };
}
