/** API keys in the database. The account is an argument of every function. */
import { z } from "zod";
import { timestamp } from "../../platform/database/columns.ts";
import { call, type Raised, rpc } from "../../platform/database/query.ts";
import type { NewKey } from "./key-format.ts";

/** The maximum of listed keys, which come in one answer. */
const MAX_KEYS = 1_000;

const row = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  created_at: timestamp,
  last_used_at: timestamp.nullable(),
  expires_at: timestamp.nullable(),
  revoked_at: timestamp.nullable(),
});
export type KeyRow = z.output<typeof row>;

/** Raises 403 when the account has as many keys as it may have. */
export function insertKey(
  accountId: string,
  name: string,
  { hash, prefix }: NewKey,
  expiresAt: Date | null,
): Promise<KeyRow | Raised> {
  const args = {
    p_account_id: accountId,
    p_name: name,
    p_hash: hash,
    p_prefix: prefix,
    p_expires_at: expiresAt?.toISOString() ?? null,
    p_max: MAX_KEYS,
  };
  return rpc("create_key", args, row);
}

/** Returns the account's valid keys, newest first, without keys of runs. */
export const selectKeys = (accountId: string): Promise<KeyRow[]> =>
  call("list_keys", { p_account_id: accountId }, z.array(row));

/**
 * Revokes a key, and stops the runs that it has started. Resolves to false when the account has no such
 * key, or it has ended.
 */
export const revokeKey = (accountId: string, id: string): Promise<boolean> =>
  call("revoke_key", { p_account_id: accountId, p_id: id }, z.boolean());

/** Replaces a key. Raises 404 when there is no such key, 409 when it was rotated before, and 403 as `insertKey`. */
export async function replaceKey(
  accountId: string,
  id: string,
  { hash, prefix }: NewKey,
  graceSeconds: number,
): Promise<KeyRow | Raised> {
  const args = {
    p_account_id: accountId,
    p_id: id,
    p_hash: hash,
    p_prefix: prefix,
    p_grace_seconds: graceSeconds,
    p_max: MAX_KEYS,
  };
  return rpc("rotate_key", args, row);
}
