import { appError } from "../../contract/app-error.ts";
import { config } from "../../platform/config.ts";
import { isRaised } from "../../platform/database/query.ts";
import { describeCreatedKey } from "./describe-key.ts";
import { newKey } from "./key-format.ts";
import { replaceKey } from "./store.ts";

/** Replaces a key with a new one. Errors: 404, and 409 for a key that was rotated before. */
export async function rotateKey(accountId: string, id: string, graceSeconds: number) {
  const key = newKey(config().API_KEY_SECRET);
  const answer = await replaceKey(accountId, id, key, graceSeconds);
  if (!isRaised(answer)) return describeCreatedKey(answer, key.raw);
  return appError(answer.status === 409 ? "conflict" : "not_found", answer.message);
}
