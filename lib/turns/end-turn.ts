import type { TurnLog } from "../engine/port.ts";
import { services } from "../platform/services.ts";
import { continueTrace, inSpan } from "../platform/telemetry/spans.ts";
import { finishStream, writeLastChunks } from "./finish-stream.ts";
import { type ActiveTurn, loadTurn } from "./store/turns.ts";
import { partsBefore, turnMetadata } from "./turn-metadata.ts";

export interface FailedTurn {
  readonly turnId: string;
  readonly runId: string;
  /** The error text that the client sees. */
  readonly reason: string;
  /** The trace to continue. */
  readonly traceparent?: string;
}

/** Ends a turn whose loop has failed, and stores the streamed part of its answer. Safe to repeat. */
export function endTurn(failed: FailedTurn): Promise<void> {
  const attributes = { "app.turn.id": failed.turnId, "app.run.id": failed.runId };
  return continueTrace(failed.traceparent, () =>
    inSpan("turn.end", { isRoot: true, attributes }, () => end(failed)),
  );
}

async function end({ turnId, runId, reason }: FailedTurn): Promise<void> {
  const turn = await loadTurn(turnId, runId);
  const log = await services().engine.openLog(turnId, runId, false);
  try {
    if (turn.outcome === "lost") await log.close([]);
    else if (turn.outcome === "finished") await writeLastChunks(log, turn.error, turn.metadata);
    else await failTurn(log, turnId, turn, reason);
  } finally {
    log.release();
  }
}

/** Ends the turn as failed, or as cancelled when a stop was requested. */
export async function failTurn(
  log: TurnLog,
  turnId: string,
  turn: ActiveTurn,
  reason: string,
): Promise<void> {
  const stopped = turn.stop_requested;
  await finishStream(log, {
    accountId: turn.account_id,
    turnId,
    load: turn.load,
    messageId: turn.assistant_message_id,
    end: stopped ? "cancelled" : "failed",
    error: stopped ? null : reason,
    metadata: turnMetadata(turn, turn.steps, stopped ? "interrupted" : "error"),
    partsBefore: partsBefore(turn),
    openQuestions: new Set(),
    lastStep: null,
  });
}
