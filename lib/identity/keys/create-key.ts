import { config } from "../../platform/config.ts";
import { isRaised } from "../../platform/database/query.ts";
import { describeCreatedKey } from "./describe-key.ts";
import { newKey } from "./key-format.ts";
import { refusedKey } from "./refused-key.ts";
import { insertKey } from "./store.ts";

const DAY_MS = 86_400_000;

/** Creates a key. Only this answer contains its text. Errors: 403 when there are too many. */
export async function createKey(accountId: string, name: string, expiresInDays?: number) {
  const key = newKey(config().API_KEY_SECRET);
  const expiresAt =
    expiresInDays === undefined ? null : new Date(Date.now() + expiresInDays * DAY_MS);
  const answer = await insertKey(accountId, name, key, expiresAt);
  return isRaised(answer) ? refusedKey(answer) : describeCreatedKey(answer, key.raw);
}
