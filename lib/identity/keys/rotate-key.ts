import { config } from "../../platform/config.ts";
import { isRaised } from "../../platform/database/query.ts";
import { describeCreatedKey } from "./describe-key.ts";
import { newKey } from "./key-format.ts";
import { refusedKey } from "./refused-key.ts";
import { replaceKey } from "./store.ts";

/** Replaces a key with a new one. Errors: 404, 409 for a key that was rotated before, 403 when there are too many. */
export async function rotateKey(accountId: string, id: string, graceSeconds: number) {
  const key = newKey(config().API_KEY_SECRET);
  const answer = await replaceKey(accountId, id, key, graceSeconds);
  return isRaised(answer) ? refusedKey(answer) : describeCreatedKey(answer, key.raw);
}
