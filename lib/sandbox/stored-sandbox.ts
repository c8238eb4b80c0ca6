/** `sandbox_state` of a session: what the provider answered, as it is stored. */
import { z } from "zod";
import type { SandboxState } from "./port.ts";

export const sandboxStatus = z.enum(["none", "active", "stopped", "expired"]);
export type SandboxStatus = z.output<typeof sandboxStatus>;

export const storedSandbox = z.object({
  provider: z.enum(["local", "vercel"]),
  name: z.string(),
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
  readyMs: z.number(),
}) satisfies z.ZodType<SandboxState>;

/** What can be said without asking the provider. */
export function statusOfStored(state: SandboxState | null): SandboxStatus {
  if (state === null) return "none";
  return state.expiresAt !== null && Date.parse(state.expiresAt) <= Date.now()
    ? "expired"
    : "active";
}
