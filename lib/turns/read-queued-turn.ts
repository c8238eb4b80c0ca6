import type { UIMessageChunk } from "ai";
import type { ChunkBatch, ReadEnd } from "../engine/port.ts";
import { drain } from "../platform/drain.ts";
import { services } from "../platform/services.ts";
import { queuedTurnState } from "./store/queued-turns.ts";

/** Between two checks whether the turn was dropped. Its first chunk ends the wait earlier. */
const LOOK_MS = 1_000;

const dropped: readonly UIMessageChunk[] = [
  { type: "error", errorText: "The message was dropped before its turn: send it again" },
  { type: "finish", finishReason: "error" },
];

/** Yields the chunks of a turn that waits for its chat, once it has started. */
export async function* readQueuedTurn(
  accountId: string,
  turnId: string,
  signal: AbortSignal,
): AsyncGenerator<ChunkBatch, ReadEnd> {
  const { engine } = services();
  while (!signal.aborted && !drain().hasBegun) {
    const found = await queuedTurnState(accountId, turnId);
    if (found.state === "started") {
      return yield* engine.read({ turnId, runId: found.run_id }, 0, signal);
    }
    if (found.state === "gone") {
      yield { firstIndex: 0, chunks: dropped.map((chunk) => JSON.stringify(chunk)) };
      return "ended";
    }
    const look = AbortSignal.any([signal, AbortSignal.timeout(LOOK_MS)]);
    for await (const _ of engine.read({ turnId, runId: null }, 0, look)) break;
  }
  return "moved";
}
