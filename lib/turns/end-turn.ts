import type { TurnLog } from "../engine/port.ts";
import { services } from "../platform/services.ts";
import { finishStream, writeLastChunks } from "./finish-stream.ts";
import { partsBefore, turnMetadata } from "./turn-metadata.ts";
import { type ActiveTurn, loadTurn } from "./turn-store.ts";

export interface LostCause {
  readonly turnId: string;
  readonly runId: string;
  /** Safe to show. */
  readonly reason: string;
}

/** Ends a turn whose loop gave up, with what it has. Safe to repeat. */
export async function endTurn({ turnId, runId, reason }: LostCause): Promise<void> {
  const turn = await loadTurn(turnId, runId);
  const log = await services().engine.openLog(turnId, runId, false);
  if (turn.outcome === "lost") await log.close([]);
  else if (turn.outcome === "finished") await writeLastChunks(log, turn.error, turn.metadata);
  else await failTurn(log, turnId, turn, reason);
}

/** As failed, unless somebody asked it to stop. */
export async function failTurn(
  log: TurnLog,
  turnId: string,
  turn: ActiveTurn,
  reason: string,
): Promise<void> {
  const stopped = turn.stop_requested;
  await finishStream(log, {
    turnId,
    messageId: turn.assistant_message_id,
    end: stopped ? "cancelled" : "failed",
    error: stopped ? null : reason,
    metadata: turnMetadata(turn, turn.steps, stopped ? "interrupted" : "error"),
    partsBefore: partsBefore(turn),
    openQuestions: new Set(),
  });
}
