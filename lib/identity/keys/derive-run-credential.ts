import { createHmac } from "node:crypto";
import { config } from "../../platform/config.ts";
import { formatKey, formatRunToken } from "./key-format.ts";

/** How the caller of a run came in, and so how its sandbox calls back. */
export type RunCredentialForm = "key" | "bearer";

/**
 * The short-lived credential that a turn's sandbox calls back with. It follows from the turn's id and
 * the project's secret, so that a run goes on after a crash without the credential being stored
 * anywhere, and it has nothing in it of what the caller presented.
 */
export function deriveRunCredential(turnId: string, form: RunCredentialForm): string {
  const purpose = form === "key" ? "run key" : "run token";
  const bytes = createHmac("sha256", config().API_KEY_SECRET)
    .update(`${purpose} ${turnId}`)
    .digest();
  return form === "key" ? formatKey(bytes) : formatRunToken(bytes);
}

/** The header line that authenticates with it. */
export function runCredentialHeader(turnId: string, form: RunCredentialForm): string {
  const credential = deriveRunCredential(turnId, form);
  return form === "key" ? `x-api-key: ${credential}` : `Authorization: Bearer ${credential}`;
}
