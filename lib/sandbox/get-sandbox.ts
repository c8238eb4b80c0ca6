import type { Logger } from "pino";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import { services } from "../platform/services.ts";
import { describeSandbox, noSandbox, type SandboxView } from "./describe-sandbox.ts";
import { selectSandbox } from "./store.ts";

/**
 * Returns the state of a session's sandbox, which it asks the provider for.
 * Errors: 404 `Session not found`, 502 when the provider does not answer.
 */
export async function getSandbox(input: {
  readonly accountId: string;
  readonly sessionId: string;
  readonly log: Logger;
}): Promise<SandboxView | AppError> {
  const { accountId, sessionId, log } = input;
  const found = await selectSandbox(accountId, sessionId);
  if (isAppError(found)) return found;
  if (found.sandbox === null) return noSandbox;
  try {
    const provider = services().sandboxes;
    // The files of a provider that this server no longer uses are out of reach.
    const state =
      found.sandbox.provider === provider.name ? await provider.status(found.sandbox) : "expired";
    return describeSandbox(found.sandbox, state);
  } catch (error) {
    log.error({ err: error, sessionId }, "the sandbox's state could not be read");
    return appError("upstream_error", "Failed to read sandbox state");
  }
}
