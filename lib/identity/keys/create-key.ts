import { config } from "../../platform/config.ts";
import { describeCreatedKey } from "./describe-key.ts";
import { newKey } from "./key-format.ts";
import { insertKey } from "./store.ts";

const DAY = 86_400_000;

export async function createKey(accountId: string, name: string, expiresInDays?: number) {
  const key = newKey(config().API_KEY_SECRET);
  const expiresAt = expiresInDays === undefined ? null : new Date(Date.now() + expiresInDays * DAY);
  return describeCreatedKey(await insertKey(accountId, name, key, expiresAt), key.raw);
}
