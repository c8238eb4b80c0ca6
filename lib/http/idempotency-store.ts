/** Idempotency keys in the database (supabase/schemas/90_requests.sql). */
import { z } from "zod";
import { call } from "../platform/database/query.ts";

/** Identifies an account's key by its HMAC. */
export interface StoredKey {
  readonly accountId: string;
  readonly keyHash: string;
}

const begun = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("begun"), effect_id: z.string(), attempt: z.int() }),
  z.object({ outcome: z.literal("done"), response: z.string() }),
  z.object({ outcome: z.enum(["running", "mismatch"]) }),
]);

export function beginIdempotent(key: StoredKey, fingerprint: string, leaseSeconds: number) {
  return call(
    "begin_idempotent",
    { ...argumentsOf(key), p_fingerprint: fingerprint, p_lease_seconds: leaseSeconds },
    begun,
  );
}

export async function extendIdempotent(
  key: StoredKey,
  attempt: number,
  leaseSeconds: number,
): Promise<void> {
  await call(
    "extend_idempotent",
    { ...argumentsOf(key), p_attempt: attempt, p_lease_seconds: leaseSeconds },
    z.unknown(),
  );
}

/** Ends an attempt. @param response null releases the key for the next attempt */
export async function endIdempotent(
  key: StoredKey,
  attempt: number,
  response: string | null,
): Promise<void> {
  await call(
    "end_idempotent",
    { ...argumentsOf(key), p_attempt: attempt, p_response: response },
    z.unknown(),
  );
}

const argumentsOf = ({ accountId, keyHash }: StoredKey) => ({
  p_account_id: accountId,
  p_key_hash: keyHash,
});
