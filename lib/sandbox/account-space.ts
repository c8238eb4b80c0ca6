/**
 * The disk space of an account's local sandboxes, as the database accounts for it. Every function
 * here throws DatabaseUnavailable.
 */
import { z } from "zod";
import { call } from "../platform/database/query.ts";
import type { SandboxSpace } from "./adapters/local/machine.ts";

const reservation = z.object({ granted: z.int(), reservedAt: z.string().nullable() });

/** @param limitBytes the limit for all sandboxes of an account together */
export function accountSpace(limitBytes: number): SandboxSpace {
  return {
    async reserve(sessionId, wantedBytes) {
      const args = { p_session_id: sessionId, p_wanted: wantedBytes, p_limit: limitBytes };
      const { granted, reservedAt } = await call("reserve_sandbox_bytes", args, reservation);
      return {
        grantedBytes: granted,
        settle: (bytes) => settleSandboxBytes(sessionId, reservedAt, bytes),
      };
    },
  };
}

/** Replaces a reservation by the measured size, unless there is a newer reservation. */
export async function settleSandboxBytes(
  sessionId: string,
  reservedAt: string | null,
  bytes: number,
): Promise<void> {
  const args = { p_session_id: sessionId, p_reserved_at: reservedAt, p_bytes: bytes };
  await call("settle_sandbox_bytes", args, z.null());
}

/** Returns whether the sandboxes of an account have reached the limit. */
export const isSandboxSpaceFull = (accountId: string, limitBytes: number): Promise<boolean> =>
  call("is_sandbox_space_full", { p_account_id: accountId, p_limit: limitBytes }, z.boolean());
