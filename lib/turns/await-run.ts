import { type AppError, appError } from "../contract/app-error.ts";
import { services } from "../platform/services.ts";
import { findActiveTurn } from "./claim-store.ts";

/** How long a claim may take to become a run before a reader is told that nothing is running. */
const PATIENCE_MS = 10_000;

/**
 * The run of the chat's active turn. A turn that is claimed but not started yet is waited for: its
 * first chunk tells that the run is known.
 * @returns null when nothing is running.
 */
export async function awaitRun(
  accountId: string,
  chatId: string,
  signal: AbortSignal,
  patienceMs = PATIENCE_MS,
): Promise<{ turnId: string; runId: string } | null | AppError> {
  const found = await findActiveTurn(accountId, chatId);
  if (found.outcome === "chat_missing") return appError("not_found", "Chat not found");
  if (found.outcome !== "active") return null;
  if (found.run_id !== null) return { turnId: found.turn_id, runId: found.run_id };

  const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const first = services().engine.read({ turnId: found.turn_id, runId: null }, 0, patience);
  for await (const _ of first) break;
  const now = await findActiveTurn(accountId, chatId);
  if (now.outcome !== "active" || now.run_id === null) return null;
  return { turnId: now.turn_id, runId: now.run_id };
}
