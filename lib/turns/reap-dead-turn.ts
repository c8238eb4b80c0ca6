import type { TurnAddress, TurnLog } from "../engine/port.ts";
import { services } from "../platform/services.ts";
import { failTurn } from "./end-turn.ts";
import { readWholeLog } from "./replay-turn.ts";
import { loadTurn } from "./store/turns.ts";

/**
 * Ends a turn whose run no longer exists although the chat still names it as active, as after a loss of
 * the engine's data. The streamed part of its answer is stored.
 * @returns whether the chat is free now.
 */
export async function reapDeadTurn({ turnId, runId }: TurnAddress): Promise<boolean> {
  const { engine } = services();
  if (runId === null || (await engine.runState(runId)) === "running") return false;
  const turn = await loadTurn(turnId, runId);
  if (turn.outcome !== "active") return true;
  const { chunks } = await readWholeLog({ turnId, runId });
  await failTurn(detachedLog(chunks), turnId, turn, "The turn was lost");
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
