import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import type { Parts } from "../parts.ts";
import { destroySandbox } from "../sandbox/destroy-sandbox.ts";
import type { SandboxRequest } from "../sandbox/get-sandbox.ts";
import { stopSessionRuns } from "../turns/stop-turn.ts";
import { removeSession, selectSession } from "./store.ts";

/**
 * Deletes a session with its chats and messages, after it has stopped its runs and its sandbox. Errors:
 * 404 `Session not found`, 502 when the sandbox cannot be stopped; the session then remains, and the
 * request can be repeated.
 */
export async function deleteSession(
  app: Parts<"db" | "engine" | "sandboxes">,
  { accountId, sessionId, log }: SandboxRequest,
): Promise<AppError | undefined> {
  const found = await selectSession(app.db, accountId, sessionId);
  if (isAppError(found)) return found;
  await stopSessionRuns(app, sessionId);
  if (found.sandbox) {
    const failure = await destroySandbox(app, found.sandbox, log);
    if (failure) return failure;
  }
  const removed = await removeSession(app.db, accountId, sessionId);
  if (isAppError(removed)) return removed;
  // A sandbox that was provisioned after the read is known only from the deleted row.
  if (removed.sandbox && removed.sandbox.createdAt !== found.sandbox?.createdAt) {
    await destroySandbox(app, removed.sandbox, log);
  }
  return undefined;
}
