import { randomUUID } from "node:crypto";
import { type AppError, invalidField, isAppError } from "../contract/app-error.ts";
import { isSecretOf, newSecret, storedSecret } from "./authenticate-event.ts";
import type { NewTrigger, Signature, Trigger } from "./contract.ts";
import { insertTrigger } from "./store.ts";

/**
 * Creates a trigger, and returns it with its secret. Errors: 400 for a secret that does not suit the signature, 403 when the
 * task has 10 triggers, 404 `Task not found`.
 */
export async function createTrigger(
  accountId: string,
  taskId: string,
  { kind, secret: given, secret_in_url, ...values }: NewTrigger,
): Promise<(Trigger & { readonly secret: string }) | AppError> {
  const { signature = null }: { signature?: Signature | null } = values;
  if (signature === null && given !== undefined) {
    return invalidField("secret", "secret must not be set without signature: one is made");
  }
  if (signature !== null && secret_in_url) {
    return invalidField("secret_in_url", "secret_in_url must not be set with signature");
  }
  if (signature === "slack" && given === undefined) {
    return invalidField("secret", "secret is required: the signing secret of the Slack app");
  }
  if (signature !== null && given !== undefined && !isSecretOf(signature, given)) {
    return signature === "standard"
      ? invalidField("secret", "secret must be whsec_ and a key in base64")
      : invalidField("secret", "secret must be printable ASCII without spaces");
  }
  const id = randomUUID();
  const secret = given ?? newSecret(signature);
  const stored = { id, signature, secret: storedSecret(id, signature, secret) };
  const made = await insertTrigger(accountId, taskId, { ...stored, kind, secret_in_url });
  if (isAppError(made)) return made;
  return { ...made, url: secret_in_url ? `${made.url}?secret=${secret}` : made.url, secret };
}
