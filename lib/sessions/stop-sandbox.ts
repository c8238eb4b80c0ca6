import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import type { Parts } from "../parts.ts";
import { destroySandbox } from "../sandbox/destroy-sandbox.ts";
import { noSandbox, type SandboxRequest, type SandboxView } from "../sandbox/get-sandbox.ts";
import { replaceSandboxState, selectSandbox } from "../sandbox/store.ts";
import { stopSessionRuns } from "../turns/stop-turn.ts";

/**
 * Stops a session's sandbox and sets its state to null. The session's runs are stopped first,
 * because they use the sandbox. Safe to repeat.
 * Errors: 404 `Session not found`, 502 when the provider cannot stop the sandbox.
 */
export async function stopSandbox(
  app: Parts<"db" | "engine" | "sandboxes">,
  { accountId, sessionId, log }: SandboxRequest,
): Promise<SandboxView | AppError> {
  const found = await selectSandbox(app.db, accountId, sessionId);
  if (isAppError(found)) return found;
  if (found.sandbox === null) return noSandbox;
  await stopSessionRuns(app, sessionId);
  // The sandbox comes first, so after a crash the state still names the sandbox to stop.
  const failure = await destroySandbox(app, found.sandbox, log);
  if (failure) return failure;
  const change = await replaceSandboxState(app.db, accountId, sessionId, {
    expected: found.sandbox,
    next: null,
  });
  // When the state has changed, another request has stopped this sandbox or provisioned a new one.
  return isAppError(change) ? change : noSandbox;
}
