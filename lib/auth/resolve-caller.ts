/** A credential becomes a caller, with the verdict on every account the request names: one rpc. */
import { z } from "zod";
import { config } from "../config.ts";
import { isRaised, rpc } from "../db/query.ts";
import { type AppError, appError } from "../http/app-error.ts";
import { hashKey } from "../keys/key-format.ts";
import type { Caller } from "./caller.ts";
import { type Credential, unauthorized } from "./read-credential.ts";

/** Ids that a request names and its contract puts under access control; null when it names none. */
export interface NamedAccounts {
  readonly account: string | null;
  readonly organization: string | null;
  readonly artist: string | null;
}

export interface Resolved {
  readonly caller: Caller;
  /** Told apart from a failed authentication because it comes after the schema's faults. */
  readonly denied: AppError | null;
}

const access = z.object({
  account: z.boolean().nullable(),
  organization: z.boolean().nullable(),
  artist: z.boolean().nullable(),
});
const keyAnswer = z
  .object({
    account_id: z.string(),
    key_id: z.string(),
    scope: z.enum(["full", "run"]),
    run_id: z.string().nullable(),
    access,
  })
  .nullable();
const emailAnswer = z.object({ account_id: z.string(), access });

export async function resolveCaller(
  credential: Credential,
  named: NamedAccounts,
): Promise<Resolved | AppError> {
  const asked = {
    p_account_id: named.account,
    p_organization_id: named.organization,
    p_artist_id: named.artist,
  };
  if (credential.kind === "key") {
    const hash = hashKey(credential.raw, config().API_KEY_SECRET);
    const found = await rpc("authenticate_key", { p_hash: hash, ...asked }, keyAnswer);
    if (found === null || isRaised(found)) return unauthorized;
    const { key_id: keyId, scope, run_id: runId } = found;
    return resolved(found, named, { kind: "key", keyId, scope, runId });
  }
  const { token, email } = credential;
  const found = await rpc("authenticate_email", { p_email: email, ...asked }, emailAnswer);
  if (isRaised(found)) return unauthorized;
  return resolved(found, named, { kind: "bearer", token, email });
}

function resolved(
  found: z.output<typeof emailAnswer>,
  named: NamedAccounts,
  credential: Caller["credential"],
): Resolved {
  const ownerId = found.account_id;
  const accountId = found.access.account === true && named.account ? named.account : ownerId;
  return { caller: { accountId, ownerId, credential }, denied: denial(found.access) };
}

function denial(verdicts: z.output<typeof access>): AppError | null {
  if (verdicts.account === false) {
    return appError("forbidden", "Access denied to specified account_id");
  }
  if (verdicts.organization === false) {
    return appError("forbidden", "Access denied to specified organization_id");
  }
  if (verdicts.artist === false) return appError("not_found", "Artist not found");
  return null;
}
