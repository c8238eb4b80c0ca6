import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import type { Parts } from "../parts.ts";
import type { Run } from "../running-turn/run.ts";
import type { EndParts } from "./finish-stream.ts";
import { reapDeadTurn } from "./reap-turn.ts";
import { findActiveTurn } from "./store/claims.ts";
import { selectRun } from "./store/runs.ts";

/** Returns the status of a run. Errors: 404 `Run not found`. */
export async function getRun(app: EndParts, accountId: string, runId: string) {
  const found = await findRun(app, accountId, runId);
  return found?.run ?? appError("not_found", "Run not found");
}

/**
 * Returns a run of the account, or null. A run that the engine no longer knows is ended first, because
 * its callers would wait forever.
 */
export async function findRun(app: EndParts, accountId: string, runId: string) {
  const found = await selectRun(app.db, accountId, runId);
  const { status } = found?.run ?? {};
  const wasReaped = found && status === "running" && (await reapDeadTurn(app, { ...found, runId }));
  return wasReaped ? selectRun(app.db, accountId, runId) : found;
}

/** Returns the headers that ask a client to poll again in a second, until the run has ended. */
export function pollHint({ status }: Run): Record<string, string> {
  return status === "queued" || status === "running" ? { "retry-after": "1" } : {};
}

/** A request does not wait longer for the run of a claimed turn. Its client repeats it. */
const MAX_WAIT_MS = 20_000;

const notStarted = appError("unavailable", "The response has not started yet: try again", {
  headers: { "retry-after": "1" },
});

/**
 * Resolves with the run of the chat's active turn, or with null when there is none. It waits for the
 * first chunk of a turn that is claimed but not started, because by then the run is known. While the
 * claim stands without a run, as on an overloaded machine, the answer is `unavailable`: with null, a
 * client would treat the turn as ended, although it may yet start.
 */
export async function awaitRun(
  { db, engine }: Parts<"db" | "engine">,
  accountId: string,
  chatId: string,
  signal: AbortSignal,
  maxWaitMs = MAX_WAIT_MS,
): Promise<{ turnId: string; runId: string } | null | AppError> {
  const found = await findActiveTurn(db, accountId, chatId);
  if (found.outcome === "chat_missing") return appError("not_found", "Chat not found");
  if (found.outcome !== "active") return null;
  if (found.run_id !== null) return { turnId: found.turn_id, runId: found.run_id };

  const deadline = AbortSignal.any([signal, AbortSignal.timeout(maxWaitMs)]);
  const first = engine.read({ turnId: found.turn_id, runId: null }, 0, deadline);
  for await (const _ of first) break;
  const now = await findActiveTurn(db, accountId, chatId);
  if (now.outcome !== "active") return null;
  if (now.run_id === null) return notStarted;
  return { turnId: now.turn_id, runId: now.run_id };
}
