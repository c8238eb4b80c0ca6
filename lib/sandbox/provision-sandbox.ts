import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import { sandboxQuotaExceeded } from "@platform/endpoint/contract/quota";
import type { SandboxState } from "@platform/sandbox/port";
import type { Logger } from "pino";
import type { Parts } from "../parts.ts";
import { config } from "../platform/config.ts";
import { destroySandbox } from "./destroy-sandbox.ts";
import { describeSandbox, type SandboxRequest, type SandboxView } from "./get-sandbox.ts";
import { isSandboxSpaceFull, replaceSandboxState, selectSandbox } from "./store.ts";

/** Every attempt after the first means that another request has changed the state. */
const MAX_ATTEMPTS = 10;

const failed = appError("upstream_error", "Failed to provision sandbox");

/**
 * Returns the session's active sandbox, which it creates when there is none.
 *
 * The provider names a sandbox after its session, so simultaneous requests reach the same one, and
 * the request after a crash finds the sandbox whose state was not stored. The stored state changes
 * by compare-and-set, and a request that loses returns the state of the other.
 *
 * Errors: 403 when the account's sandboxes are full and this session has none yet, 404 `Session not
 * found`, 502 `Failed to provision sandbox`. Throws DatabaseUnavailable.
 */
export async function provisionSandbox(
  app: Parts<"db" | "sandboxes">,
  { accountId, sessionId, log }: SandboxRequest,
): Promise<SandboxView | AppError> {
  const found = await selectSandbox(app.db, accountId, sessionId);
  if (isAppError(found)) return found;
  if (found.sandbox === null && (await isFull(app, accountId))) return sandboxQuotaExceeded;

  let expected = found.sandbox;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const ready = await activate(app, accountId, sessionId, expected, log);
    if (isAppError(ready)) return ready;
    if (ready === expected) return describeSandbox(ready, "active");
    const change = await replaceSandboxState(app.db, accountId, sessionId, {
      expected,
      next: ready,
    });
    if (isAppError(change)) {
      // The session was deleted in the meantime, so nothing else refers to this sandbox.
      await destroySandbox(app, ready, log);
      return change;
    }
    if (change.stored) return describeSandbox(ready, "active");
    expected = change.sandbox;
  }
  log.error({ sessionId }, "the sandbox's state kept changing while it was provisioned");
  return failed;
}

/** The limit applies to sandboxes on this machine; a sandbox service has its own limits. */
async function isFull(
  { db, sandboxes }: Parts<"db" | "sandboxes">,
  accountId: string,
): Promise<boolean> {
  const { ACCOUNT_SANDBOX_BYTES: limit } = config();
  return limit > 0 && sandboxes.folders !== undefined && isSandboxSpaceFull(db, accountId, limit);
}

/** Returns `current` when it is active, else a newly provisioned sandbox. */
async function activate(
  { sandboxes: provider }: Parts<"sandboxes">,
  accountId: string,
  sessionId: string,
  current: SandboxState | null,
  log: Logger,
): Promise<SandboxState | AppError> {
  try {
    const usable =
      current !== null &&
      current.provider === provider.name &&
      (await provider.status(current)) === "active";
    return usable ? current : await provider.provision(sessionId, accountId);
  } catch (error) {
    log.error({ err: error, sessionId }, "the sandbox could not be provisioned");
    return failed;
  }
}
