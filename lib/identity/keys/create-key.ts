import { config } from "../../platform/config.ts";
import { describeCreatedKey } from "./describe-key.ts";
import { newKey } from "./key-format.ts";
import { insertKey } from "./store.ts";

const DAY_MS = 86_400_000;

/** Creates a key. Only this answer contains its text. */
export async function createKey(accountId: string, name: string, expiresInDays?: number) {
  const key = newKey(config().API_KEY_SECRET);
  const expiresAt =
    expiresInDays === undefined ? null : new Date(Date.now() + expiresInDays * DAY_MS);
  return describeCreatedKey(await insertKey(accountId, name, key, expiresAt), key.raw);
}
