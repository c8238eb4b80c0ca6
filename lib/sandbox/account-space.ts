/**
 * Bytes that an account's local sandboxes may take, in the database
 * (supabase/migrations/…_sandbox_space.sql). @throws DatabaseUnavailable from every function here.
 */
import { z } from "zod";
import { call } from "../platform/database/query.ts";
import type { SandboxSpace } from "./adapters/local/space.ts";

const reservation = z.object({ granted: z.int(), reservedAt: z.string().nullable() });

/** @param limitBytes of all sandboxes of an account together */
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

/** Without effect when a newer reservation stands. */
export async function settleSandboxBytes(
  sessionId: string,
  reservedAt: string | null,
  bytes: number,
): Promise<void> {
  const args = { p_session_id: sessionId, p_reserved_at: reservedAt, p_bytes: bytes };
  await call("settle_sandbox_bytes", args, z.null());
}

/** Whether the sandboxes of an account take all that they may. */
export const isSandboxSpaceFull = (accountId: string, limitBytes: number): Promise<boolean> =>
  call("is_sandbox_space_full", { p_account_id: accountId, p_limit: limitBytes }, z.boolean());
