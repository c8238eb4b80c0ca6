import { createHmac } from "node:crypto";
import { config } from "../../platform/config.ts";
import { formatKey, formatRunToken } from "./key-format.ts";

/** The form of the caller's own credential, which the run's credential has, too. */
export type RunCredentialForm = "key" | "bearer";

/**
 * Returns the short-lived credential with which a turn's sandbox calls the API. It is derived from the
 * turn's id and API_KEY_SECRET: a run continues after a crash although the credential is not stored. It
 * contains nothing of the caller's own credential.
 */
export function deriveRunCredential(turnId: string, form: RunCredentialForm): string {
  const purpose = form === "key" ? "run key" : "run token";
  const bytes = createHmac("sha256", config().API_KEY_SECRET)
    .update(`${purpose} ${turnId}`)
    .digest();
  return form === "key" ? formatKey(bytes) : formatRunToken(bytes);
}

/** Returns the header line that authenticates with the credential of a turn. */
export function runCredentialHeader(turnId: string, form: RunCredentialForm): string {
  const credential = deriveRunCredential(turnId, form);
  return form === "key" ? `x-api-key: ${credential}` : `Authorization: Bearer ${credential}`;
}
