import { reapDeadTurn } from "../turns/end-turn.ts";
import { unfinishedTurns } from "./store.ts";

const BATCH = 200;

/**
 * Ends turns whose run no longer exists, as after a loss of the engine's data, and returns their number.
 * With a turn go its tool records, its steps and its credential.
 */
export async function endLostTurns(): Promise<number> {
  let ended = 0;
  for (const turn of await unfinishedTurns(BATCH)) {
    if (await reapDeadTurn(turn)) ended += 1;
  }
  return ended;
}
