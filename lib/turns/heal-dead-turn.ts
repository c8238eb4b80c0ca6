import type { TurnAddress, TurnLog } from "../engine/port.ts";
import { services } from "../platform/services.ts";
import { failTurn } from "./end-turn.ts";
import { loadTurn } from "./turn-store.ts";

/**
 * Ends a turn whose run is over although the chat still waits for it, as after the engine's data
 * was lost. What it had streamed is kept.
 * @returns whether the chat is free now.
 */
export async function healDeadTurn({ turnId, runId }: TurnAddress): Promise<boolean> {
  if (runId === null || (await services().engine.runState(runId)) === "running") return false;
  const turn = await loadTurn(turnId, runId);
  if (turn.outcome === "active") {
    const chunks: string[] = [];
    for await (const batch of services().engine.read(
      { turnId, runId },
      0,
      AbortSignal.timeout(5_000),
    )) {
      // One by one: a long turn has more of them than a call takes arguments.
      for (const chunk of batch.chunks) chunks.push(chunk);
    }
    await failTurn(detachedLog(chunks), turnId, turn, "The turn was lost");
  }
  return true;
}

/** A log that nobody reads any more. */
function detachedLog(chunks: string[]): TurnLog {
  return {
    committed: () => chunks,
    append: (more) => void chunks.push(...more),
    flushed: async () => {},
    close: async () => {},
  };
}
