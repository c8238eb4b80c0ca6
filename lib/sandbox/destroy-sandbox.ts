import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import type { SandboxState } from "@platform/sandbox/port";
import type { Logger } from "pino";
import type { Parts } from "../parts.ts";

/** Stops a sandbox and deletes its files; safe to repeat. Errors: 502. */
export async function destroySandbox(
  { sandboxes: provider }: Parts<"sandboxes">,
  state: SandboxState,
  log: Logger,
): Promise<AppError | undefined> {
  try {
    // The sandbox of a provider that this server no longer uses is out of reach, which must not
    // keep the session from being deleted.
    if (state.provider === provider.name) await provider.destroy(state);
    return undefined;
  } catch (error) {
    log.error({ err: error, sandbox: state.name }, "the sandbox could not be stopped");
    return appError("upstream_error", "Failed to stop sandbox");
  }
}

/**
 * Destroys a sandbox whose state was not stored, because its provisioning did not finish. Its name
 * is the session's id. Never throws; a failure is logged.
 */
export async function clearSandbox(app: Parts<"sandboxes">, sessionId: string, log: Logger) {
  try {
    const placeholders = { createdAt: new Date().toISOString(), expiresAt: null, readyMs: 0 };
    const state = { provider: app.sandboxes.name, name: sessionId, ...placeholders };
    await destroySandbox(app, state, log);
  } catch (error) {
    log.error({ err: error, sandbox: sessionId }, "the sandbox could not be removed");
  }
}
