import type { KeyRow } from "./store.ts";

/** Returns a key as lists show it. */
export function describeKey(row: KeyRow) {
  return {
    id: row.id,
    key_name: row.name,
    prefix: row.prefix,
    created_at: row.created_at,
    last_used_at: row.last_used_at,
    expires_at: earlier(row.expires_at, row.revoked_at),
  };
}

/** Returns a new key with its text, which is shown only once. */
export function describeCreatedKey(row: KeyRow, raw: string) {
  const { last_used_at: _, ...shown } = describeKey(row);
  return { status: "success", key: raw, ...shown } as const;
}

// ISO 8601 in UTC sorts as text.
function earlier(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}
