/** The `sandbox_state` of a session: the stored form of the provider's answer. */

import type { SandboxState } from "@platform/sandbox/port";
import { z } from "zod";

export const sandboxStatus = z.enum(["none", "active", "stopped", "expired"]);
export type SandboxStatus = z.output<typeof sandboxStatus>;

export const storedSandbox = z.object({
  provider: z.enum(["local", "system", "vercel"]),
  name: z.string(),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
  readyMs: z.number(),
}) satisfies z.ZodType<SandboxState>;

/** Returns the status as far as it is known without asking the provider. */
export function statusOfStored(state: SandboxState | null): SandboxStatus {
  if (state === null) return "none";
  return state.expiresAt !== null && Date.parse(state.expiresAt) <= Date.now()
    ? "expired"
    : "active";
}
