/**
 * Stops a session's sandbox; `sandbox_state` becomes null. Runs of the session end first, because
 * they would act on a sandbox that is going away. Repeating it is harmless. Decisions, section 4.
 */
import type { Logger } from "pino";
import { type AppError, isAppError } from "../contract/app-error.ts";
import { noSandbox, type SandboxView } from "../sandbox/describe-sandbox.ts";
import { destroySandbox } from "../sandbox/destroy-sandbox.ts";
import { replaceSandboxState, selectSandbox } from "../sandbox/store.ts";
import { stopSessionRuns } from "../turns/stop-session-runs.ts";

/** Errors: 404 `Session not found`, 502 when the provider cannot stop it. */
export async function stopSandbox(input: {
  readonly accountId: string;
  readonly sessionId: string;
  readonly log: Logger;
}): Promise<SandboxView | AppError> {
  const { accountId, sessionId, log } = input;
  const found = await selectSandbox(accountId, sessionId);
  if (isAppError(found)) return found;
  if (found.sandbox === null) return noSandbox;
  await stopSessionRuns(sessionId);
  // First the sandbox, then the state: after a crash in between the state still names what to stop.
  const failure = await destroySandbox(found.sandbox, log);
  if (failure) return failure;
  const change = await replaceSandboxState(accountId, sessionId, {
    expected: found.sandbox,
    next: null,
  });
  // Not stored: another request has stopped it too, or made a new one since, which is not ours.
  return isAppError(change) ? change : noSandbox;
}
