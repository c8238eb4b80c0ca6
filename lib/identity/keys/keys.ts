/** The API keys of an account, which is an argument of every function. */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { dateTime } from "@platform/endpoint/contract/fields";
import { z } from "zod";
import { config } from "../../platform/config.ts";
import { rowOf } from "../../platform/database/columns.ts";
import type { Database } from "../../platform/database/port.ts";
import { call, isRaised, type Raised, rpc } from "../../platform/database/query.ts";
import { listedKey } from "./contract.ts";
import { newKey } from "./key-format.ts";

/** The maximum of listed keys, which come in one answer. */
const MAX_KEYS = 1_000;
const DAY_MS = 86_400_000;

const row = rowOf(listedKey.extend({ revoked_at: dateTime.nullable() }), { key_name: "name" });
type KeyRow = z.output<typeof row>;

/** Returns the account's valid keys as lists show them, newest first, without keys of runs. */
export async function listKeys(db: Database, accountId: string) {
  return (await call(db, "list_keys", { accountId }, z.array(row))).map(describeKey);
}

/**
 * Revokes a key, and stops the runs that it has started. Resolves to false when the account has no such
 * key, or it has ended.
 */
export const revokeKey = (db: Database, accountId: string, id: string): Promise<boolean> =>
  call(db, "revoke_key", { accountId, id });

/** Creates a key. Only this answer contains its text. Errors: 403 when there are too many. */
export async function createKey(
  db: Database,
  accountId: string,
  name: string,
  expiresInDays?: number,
) {
  const { raw, hash, prefix } = newKey(config().API_KEY_SECRET);
  const expiresAt =
    expiresInDays === undefined ? null : new Date(Date.now() + expiresInDays * DAY_MS);
  const args = { accountId, name, hash, prefix, expiresAt, max: MAX_KEYS };
  return describeCreatedKey(await rpc(db, "create_key", args, row), raw);
}

/** Replaces a key with a new one. Errors: 404, 409 for a key that was rotated before, 403 when there are too many. */
export async function rotateKey(db: Database, accountId: string, id: string, graceSeconds: number) {
  const { raw, hash, prefix } = newKey(config().API_KEY_SECRET);
  const args = { accountId, id, hash, prefix, graceSeconds, max: MAX_KEYS };
  return describeCreatedKey(await rpc(db, "rotate_key", args, row), raw);
}

const missing = appError("not_found", "Key not found");
const refusals: Readonly<Record<string, AppError>> = {
  full: appError("quota_exceeded", "The account has too many keys: revoke one first"),
  missing,
  rotated: appError("conflict", "This key has already been rotated"),
};

function describeCreatedKey(answer: KeyRow | Raised, raw: string) {
  if (isRaised(answer)) return refusals[answer.message] ?? missing;
  const { last_used_at: _, ...shown } = describeKey(answer);
  return { status: "success", key: raw, ...shown } as const;
}

function describeKey({ revoked_at: revokedAt, ...key }: KeyRow) {
  // ISO 8601 in UTC sorts as text.
  const [endsAt = null] = [key.expires_at, revokedAt].filter((time) => time !== null).sort();
  return { ...key, expires_at: endsAt };
}
