import { type AppError, isAppError } from "../contract/app-error.ts";
import type { Webhook } from "./contract.ts";
import { newSecret } from "./secret.ts";
import { replaceSecret } from "./store.ts";

/** Replaces the secret; the one before signs, too, for 24 hours. Errors: 404. */
export async function rotateSecret(
  accountId: string,
  id: string,
): Promise<{ webhook: Webhook; secret: string } | AppError> {
  const { secret, sealedSecret } = newSecret(id);
  const webhook = await replaceSecret(accountId, id, sealedSecret);
  return isAppError(webhook) ? webhook : { webhook, secret };
}
