import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import type { SandboxState } from "@platform/sandbox/port";
import type { Logger } from "pino";
import type { z } from "zod";
import type { Parts } from "../parts.ts";
import type { sandbox } from "./contract.ts";
import { selectSandbox } from "./store.ts";
import type { SandboxStatus } from "./stored-sandbox.ts";

export interface SandboxRequest {
  readonly accountId: string;
  readonly sessionId: string;
  readonly log: Logger;
}

/**
 * Returns the state of a session's sandbox, which it asks the provider for.
 * Errors: 404 `Session not found`, 502 when the provider does not answer.
 */
export async function getSandbox(
  { db, sandboxes: provider }: Parts<"db" | "sandboxes">,
  { accountId, sessionId, log }: SandboxRequest,
): Promise<SandboxView | AppError> {
  const found = await selectSandbox(db, accountId, sessionId);
  if (isAppError(found)) return found;
  if (found.sandbox === null) return noSandbox;
  try {
    // The files of a provider that this server no longer uses are out of reach.
    const state =
      found.sandbox.provider === provider.name ? await provider.status(found.sandbox) : "expired";
    return describeSandbox(found.sandbox, state);
  } catch (error) {
    log.error({ err: error, sessionId }, "the sandbox's state could not be read");
    return appError("upstream_error", "Failed to read sandbox state");
  }
}

export type SandboxView = z.output<typeof sandbox>;

export const noSandbox: SandboxView = {
  provider: null,
  state: "none",
  createdAt: null,
  expiresAt: null,
  readyMs: null,
};

/** Returns the public state of a sandbox, without the provider's own name for it. */
export function describeSandbox(
  { provider, createdAt, expiresAt, readyMs }: SandboxState,
  state: SandboxStatus,
): SandboxView {
  return { provider, state, createdAt, expiresAt, readyMs };
}

/** Returns a function that makes the response body for the session's sandbox. */
export const sandboxAnswer =
  ({ sessionId }: { readonly sessionId: string }) =>
  (sandbox: SandboxView) =>
    ({ body: { status: "success", sessionId, sandbox } }) as const;
