import { type AppError, appError } from "../contract/app-error.ts";
import type { TurnAddress } from "../engine/port.ts";
import { services } from "../platform/services.ts";
import { requestStop } from "./claim-store.ts";

/** Decisions, section 5: a stop is effective within two seconds. */
const EFFECTIVE_WITHIN_MS = 2_000;

/**
 * Stops the turn that is active now, and waits for its end, so that the caller may send the next
 * message at once.
 */
export async function stopTurn(
  accountId: string,
  chatId: string,
): Promise<{ stopped: boolean } | AppError> {
  const found = await requestStop(accountId, chatId);
  if (found.outcome === "chat_missing") return appError("not_found", "Chat not found");
  if (found.outcome !== "active") return { stopped: false };
  const turn = { turnId: found.turn_id, runId: found.run_id };
  await services().engine.signalStop(turn.turnId);
  await ended(turn);
  return { stopped: true };
}

async function ended(turn: TurnAddress): Promise<void> {
  const deadline = AbortSignal.timeout(EFFECTIVE_WITHIN_MS);
  const from = (await services().engine.tailIndex(turn)) + 1;
  for await (const _ of services().engine.read(turn, from, deadline));
}
