import type { z } from "zod";
import type { sandbox } from "./contract.ts";
import type { SandboxState } from "./port.ts";
import type { SandboxStatus } from "./stored-sandbox.ts";

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
