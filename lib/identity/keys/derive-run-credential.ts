import { createHmac } from "node:crypto";
import { config } from "../../platform/config.ts";
import type { Database } from "../../platform/database/port.ts";
import { findSecret } from "../../platform/find-secret.ts";
import { formatKey, formatRunToken, hashKey } from "./key-format.ts";

/** The form of the caller's own credential, which the run's credential has, too. */
export type RunCredentialForm = "key" | "bearer";

/**
 * Returns the short-lived credential with which a turn's sandbox calls the API. It is derived from the
 * turn's id and API_KEY_SECRET: a run continues after a crash although the credential is not stored. It
 * contains nothing of the caller's own credential.
 */
export function deriveRunCredential(
  turnId: string,
  form: RunCredentialForm,
  secret = config().API_KEY_SECRET,
): string {
  const purpose = form === "key" ? "run key" : "run token";
  const bytes = createHmac("sha256", secret).update(`${purpose} ${turnId}`).digest();
  return form === "key" ? formatKey(bytes) : formatRunToken(bytes);
}

/** Returns the credential that is stored for a turn, which may have started with the previous secret. */
export async function findRunCredential(
  db: Database,
  accountId: string,
  turnId: string,
  form: RunCredentialForm,
): Promise<string> {
  const secret = await findSecret(db, accountId, (one) =>
    hashKey(deriveRunCredential(turnId, form, one), one),
  );
  return deriveRunCredential(turnId, form, secret);
}

/** Returns the header line that authenticates with the credential of a turn. */
export function runCredentialHeader(credential: string, form: RunCredentialForm): string {
  return form === "key" ? `x-api-key: ${credential}` : `Authorization: Bearer ${credential}`;
}
