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

/** The provider's own name of the sandbox stays inside. */
export function describeSandbox(
  { provider, createdAt, expiresAt, readyMs }: SandboxState,
  state: SandboxStatus,
): SandboxView {
  return { provider, state, createdAt, expiresAt, readyMs };
}
