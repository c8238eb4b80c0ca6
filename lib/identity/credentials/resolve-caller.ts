/** Resolves a credential to a caller, and the caller's access to named accounts, in one round trip. */
import { z } from "zod";
import { type AppError, appError } from "../../contract/app-error.ts";
import { type RateVerdict, rate } from "../../contract/rate-limit.ts";
import { config } from "../../platform/config.ts";
import { call } from "../../platform/database/query.ts";
import { hashKey } from "../keys/key-format.ts";
import type { Caller } from "./caller.ts";
import { type Credential, unauthorized } from "./read-credential.ts";
import { hashIdentity } from "./verify-bearer.ts";

/** The ids in the access-controlled fields of a request; null for each that it does not name. */
export interface NamedAccounts {
  readonly account: string | null;
  readonly organization: string | null;
  readonly artist: string | null;
}

export interface Resolved {
  readonly caller: Caller;
  /** The refusal of a named account. It is separate, because schema errors are reported before it. */
  readonly denied: AppError | null;
  readonly rate: RateVerdict | null;
}

/** The verdict on a request beyond a limit, of which nothing else is known. */
export interface Limited {
  readonly limited: RateVerdict;
}

const access = z.object({
  account: z.boolean().nullable(),
  organization: z.boolean().nullable(),
  artist: z.boolean().nullable(),
});
const limited = z.object({
  outcome: z.literal("limited"),
  by: z.enum(["account", "address"]),
  rate,
});
const knownEmail = z.object({
  outcome: z.literal("known"),
  account_id: z.string(),
  rate: rate.nullable(),
  access,
});
const knownKey = knownEmail.extend({ key_id: z.string() });
const knownCredential = z.discriminatedUnion("scope", [
  knownKey.extend({ scope: z.literal("full") }),
  knownKey.extend({ scope: z.literal("run"), session_id: z.string(), chat_id: z.string() }),
]);
const unknown = z.object({ outcome: z.literal("unknown") });
const bearerAnswer = z.discriminatedUnion("outcome", [limited, unknown, knownEmail]);
const keyAnswer = z.discriminatedUnion("outcome", [limited, unknown, knownCredential]);

/**
 * Resolves to the caller, to the exceeded rate limit, or to a 401.
 * @param address the bucket of the address limit
 */
export async function resolveCaller(
  credential: Credential,
  named: NamedAccounts,
  address: string,
): Promise<Resolved | Limited | AppError> {
  const asked = {
    p_account_id: named.account,
    p_organization_id: named.organization,
    p_artist_id: named.artist,
    p_address: address,
    p_address_limit: config().ADDRESS_RATE_LIMIT,
    p_account_limit: config().ACCOUNT_RATE_LIMIT,
  };
  if (credential.kind === "key") {
    const hash = hashKey(credential.raw, config().API_KEY_SECRET);
    const found = await call("authenticate_key", { p_hash: hash, ...asked }, keyAnswer);
    if (found.outcome === "unknown") return unauthorized;
    if (found.outcome === "limited") return { limited: { by: found.by, ...found.rate } };
    return resolved(found, named, credentialOf(found));
  }
  const { email, sessionId, issuedAt } = credential;
  const token = {
    p_email: email,
    p_identity_hash: hashIdentity(email),
    p_session_id: sessionId,
    p_issued_at: issuedAt?.toISOString() ?? null,
  };
  const found = await call("authenticate_bearer", { ...token, ...asked }, bearerAnswer);
  if (found.outcome === "unknown") return unauthorized;
  if (found.outcome === "limited") return { limited: { by: found.by, ...found.rate } };
  return resolved(found, named, { kind: "bearer", email });
}

function credentialOf(found: z.output<typeof knownCredential>): Caller["credential"] {
  const { key_id: keyId } = found;
  if (found.scope === "full") return { kind: "key", keyId };
  return { kind: "run", keyId, run: { sessionId: found.session_id, chatId: found.chat_id } };
}

function resolved(
  found: z.output<typeof knownEmail>,
  named: NamedAccounts,
  credential: Caller["credential"],
): Resolved {
  const ownerId = found.account_id;
  const accountId = found.access.account === true && named.account ? named.account : ownerId;
  return {
    caller: { accountId, ownerId, credential },
    denied: denial(found.access),
    rate: found.rate && { by: "account", ...found.rate },
  };
}

function denial(verdicts: z.output<typeof access>): AppError | null {
  if (verdicts.account === false) {
    return appError("access_denied", "Access denied to specified account_id");
  }
  if (verdicts.organization === false) {
    return appError("access_denied", "Access denied to specified organization_id");
  }
  if (verdicts.artist === false) return appError("not_found", "Artist not found");
  return null;
}
