import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import type { Engine, TurnAddress } from "../engine/port.ts";
import type { Parts } from "../parts.ts";
import type { EndParts } from "./finish-stream.ts";
import { getRun } from "./get-run.ts";
import { namedChatId } from "./named-chat-id.ts";
import { requestSessionStop, requestStop } from "./store/claims.ts";
import { requestRunStop } from "./store/runs.ts";

/** A stop takes effect within two seconds. */
const MAX_WAIT_MS = 2_000;

/**
 * Stops the chat's active turn and waits for its end, so the caller can send the next message
 * immediately.
 * @param chatId or the UUID by which the client has named the chat
 */
export async function stopTurn(
  { db, engine }: Parts<"db" | "engine">,
  accountId: string,
  chatId: string,
): Promise<{ stopped: boolean } | AppError> {
  let found = await requestStop(db, accountId, chatId);
  if (found.outcome === "chat_missing") {
    found = await requestStop(db, accountId, namedChatId(accountId, chatId));
  }
  if (found.outcome === "chat_missing") return appError("not_found", "Chat not found");
  if (found.outcome !== "active") return { stopped: false };
  await signalAndAwaitEnd(engine, { turnId: found.turn_id, runId: found.run_id });
  return { stopped: true };
}

/** Signals a stop that is recorded, and resolves when the turn has ended, at the latest in two seconds. */
async function signalAndAwaitEnd(engine: Engine, turn: TurnAddress): Promise<void> {
  await engine.signalStop(turn.turnId);
  const deadline = AbortSignal.timeout(MAX_WAIT_MS);
  const from = (await engine.tailIndex(turn)) + 1;
  for await (const _ of engine.read(turn, from, deadline));
}

/** Cancels a run and waits for its end. Errors: 404 `Run not found`. */
export async function cancelRun(
  app: EndParts,
  accountId: string,
  runId: string,
): Promise<{ cancelled: boolean } | AppError> {
  const found = await requestRunStop(app.db, accountId, runId);
  if (found.outcome === "active")
    await signalAndAwaitEnd(app.engine, { turnId: found.turn_id, runId });
  const run = await getRun(app, accountId, runId);
  if (isAppError(run)) return run;
  // The stop of a run that has not ended yet is recorded.
  return { cancelled: run.status !== "completed" && run.status !== "failed" };
}

/** Stops every run of a session before the session or its sandbox is deleted. */
export async function stopSessionRuns({ db, engine }: Parts<"db" | "engine">, sessionId: string) {
  for (const turnId of await requestSessionStop(db, sessionId)) await engine.signalStop(turnId);
}
