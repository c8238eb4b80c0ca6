/**
 * Deletes a session with its chats and messages; its runs and its sandbox end first.
 * Errors: 404 `Session not found`, 502 when the sandbox cannot be stopped: the session is then
 * still there, so that the request can be repeated. Decisions, section 4.
 */
import type { Logger } from "pino";
import { type AppError, isAppError } from "../contract/app-error.ts";
import { destroySandbox } from "../sandbox/destroy-sandbox.ts";
import { stopSessionRuns } from "../turns/stop-session-runs.ts";
import { removeSession, selectSession } from "./store.ts";

export async function deleteSession(input: {
  readonly accountId: string;
  readonly sessionId: string;
  readonly log: Logger;
}): Promise<AppError | undefined> {
  const { accountId, sessionId, log } = input;
  const found = await selectSession(accountId, sessionId);
  if (isAppError(found)) return found;
  await stopSessionRuns(sessionId);
  if (found.sandbox) {
    const failure = await destroySandbox(found.sandbox, log);
    if (failure) return failure;
  }
  const removed = await removeSession(accountId, sessionId);
  if (isAppError(removed)) return removed;
  // One that was provisioned between the read and the deletion; its state is known only here.
  if (removed.sandbox && removed.sandbox.createdAt !== found.sandbox?.createdAt) {
    await destroySandbox(removed.sandbox, log);
  }
  return undefined;
}
