import { areEqualTexts } from "@platform/kit/equal-texts";
import { acceptedSecrets } from "./config.ts";
import type { Database } from "./database/port.ts";
import { call } from "./database/query.ts";

/** Returns whether a text is the one that is made with one of the accepted secrets. */
export const isMadeWithSecret = (given: string, make: (secret: string) => string): boolean =>
  acceptedSecrets().some((secret) => areEqualTexts(given, make(secret)));

/**
 * Returns the secret with which the hash was made that is stored for the account: the one in use, unless that is being
 * replaced and the hash of the previous one is stored.
 */
export async function findSecret(
  db: Database,
  accountId: string,
  hashOf: (secret: string) => string,
): Promise<string> {
  const secrets = acceptedSecrets();
  const [current = "", previous] = secrets;
  if (previous === undefined) return current;
  const stored = await call(db, "find_stored_hash", { accountId, hashes: secrets.map(hashOf) });
  return stored === hashOf(previous) ? previous : current;
}
