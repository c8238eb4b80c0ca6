/**
 * Authenticates the caller of a request: reads its credential, checks it as far as possible without the
 * database, and resolves it with the access to named accounts and the rate limits in one round trip.
 */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { APPROVAL_CATEGORIES } from "@platform/endpoint/contract/approvals";
import { type RateVerdict, rate } from "@platform/endpoint/contract/rate-limit";
import { turnPolicies } from "@platform/kit/network-policy";
import { z } from "zod";
import type { Parts } from "../../parts.ts";
import { acceptedSecrets, config } from "../../platform/config.ts";
import type { Arguments, Database } from "../../platform/database/port.ts";
import { call } from "../../platform/database/query.ts";
import { hashKey, isWellFormedKey, isWellFormedRunToken } from "../keys/key-format.ts";
import type { Caller } from "./caller.ts";
import { hashIdentity, type VerifiedToken } from "./verify-bearer.ts";

export type Credential =
  /** An API key in either header, or the token of a run, which is stored like a key. */
  { readonly kind: "key"; readonly raw: string } | ({ readonly kind: "bearer" } & VerifiedToken);

/** One text for every invalid credential, so responses reveal nothing about it. */
const unauthorized = appError("unauthorized", "Unauthorized");

const notExactlyOne = appError(
  "unauthorized",
  "Exactly one of x-api-key or Authorization must be provided",
);

/** Resolves to null without a credential, if it is optional. Errors: 401. */
export async function readCredential(
  { identity }: Parts<"identity">,
  headers: Headers,
  optional: boolean,
): Promise<Credential | AppError | null> {
  const key = headers.get("x-api-key");
  const authorization = headers.get("authorization");
  if (key === null && authorization === null) return optional ? null : notExactlyOne;
  if (key !== null && authorization !== null) return notExactlyOne;
  if (key !== null) return isWellFormedKey(key) ? { kind: "key", raw: key } : unauthorized;
  const token = bearerOf(authorization ?? "");
  if (token === undefined) return unauthorized;
  if (hasStoredForm(token)) {
    const isWellFormed = isWellFormedKey(token) || isWellFormedRunToken(token);
    return isWellFormed ? { kind: "key", raw: token } : unauthorized;
  }
  const verified = await identity.verify(token);
  return verified === null ? unauthorized : { kind: "bearer", ...verified };
}

/** Returns the well-formed keys and run tokens of a request that needs no credential. */
export function storedCredentials(headers: Headers): string[] {
  const key = headers.get("x-api-key") ?? "";
  const token = bearerOf(headers.get("authorization") ?? "") ?? "";
  return [
    ...(isWellFormedKey(key) ? [key] : []),
    ...(isWellFormedKey(token) || isWellFormedRunToken(token) ? [token] : []),
  ];
}

const bearerOf = (authorization: string): string | undefined =>
  /^bearer +([^\s]+) *$/i.exec(authorization)?.[1];

/** No JWT starts like a key or a run token, so the identity provider is never asked about one. */
const hasStoredForm = (token: string): boolean => /^(?:ap|rt)_/.test(token);

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

const verdicts = z.object({
  account: z.boolean().nullable(),
  organization: z.boolean().nullable(),
  artist: z.boolean().nullable(),
});
/** `seen` has the verdicts on a request that only reads. */
const access = verdicts.extend({ seen: verdicts.partial() });
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
  knownKey.extend({
    scope: z.literal("run"),
    session_id: z.string(),
    chat_id: z.string(),
    run_id: z.string(),
    artist_id: z.string().nullable(),
    workspace: z.enum(["write", "read", "off"]),
    turn_id: z.string(),
    asks: z.array(z.enum(APPROVAL_CATEGORIES)),
    network: turnPolicies,
  }),
]);
const unknown = z.object({ outcome: z.literal("unknown") });
const bearerAnswer = z.discriminatedUnion("outcome", [limited, unknown, knownEmail]);
const keyAnswer = z.discriminatedUnion("outcome", [limited, unknown, knownCredential]);

/**
 * Resolves to the caller, to the exceeded rate limit, or to a 401.
 * @param address the bucket of the address limit
 * @param reads whether the request changes nothing, so a viewer of an organization may make it
 */
export async function resolveCaller(
  db: Database,
  credential: Credential,
  named: NamedAccounts,
  address: string,
  reads = false,
): Promise<Resolved | Limited | AppError> {
  const asked = {
    accountId: named.account,
    organizationId: named.organization,
    artistId: named.artist,
    address,
    addressLimit: config().ADDRESS_RATE_LIMIT,
    accountLimit: config().ACCOUNT_RATE_LIMIT,
  };
  if (credential.kind === "key") {
    const found = await authenticateKey(db, credential.raw, asked);
    if (found.outcome === "unknown") return unauthorized;
    if (found.outcome === "limited") return { limited: { by: found.by, ...found.rate } };
    return resolved(found, named, credentialOf(found), reads);
  }
  const { email, sessionId, issuedAt } = credential;
  await rekey(db, (secret) => hashIdentity(email, secret));
  const token = {
    email,
    identityHash: hashIdentity(email),
    sessionId,
    issuedAt: issuedAt?.toISOString() ?? null,
  };
  const found = await call(db, "authenticate_bearer", { ...token, ...asked }, bearerAnswer);
  if (found.outcome === "unknown") return unauthorized;
  if (found.outcome === "limited") return { limited: { by: found.by, ...found.rate } };
  return resolved(found, named, { kind: "bearer", email }, reads);
}

/** Looks a key up by its hash, which may have been made with the previous secret. */
async function authenticateKey(
  db: Database,
  raw: string,
  asked: Omit<Arguments<"authenticate_key">, "hash">,
) {
  const hashOf = (secret: string) => hashKey(raw, secret);
  let found: z.output<typeof keyAnswer> = { outcome: "unknown" };
  for (const [at, secret] of acceptedSecrets().entries()) {
    found = await call(db, "authenticate_key", { ...asked, hash: hashOf(secret) }, keyAnswer);
    if (found.outcome === "known" && at > 0) await rekey(db, hashOf);
    if (found.outcome !== "unknown") break;
  }
  return found;
}

/** Replaces the stored hash that was made with the previous secret, if there is one. */
async function rekey(db: Database, hashOf: (secret: string) => string): Promise<void> {
  const [current = "", previous] = acceptedSecrets();
  if (previous === undefined) return;
  await call(db, "rekey_hash", { from: hashOf(previous), to: hashOf(current) });
}

function credentialOf(found: z.output<typeof knownCredential>): Caller["credential"] {
  const { key_id: keyId } = found;
  if (found.scope === "full") return { kind: "key", keyId };
  const { session_id: sessionId, chat_id: chatId, run_id: runId, artist_id: artistId } = found;
  const run = {
    sessionId,
    chatId,
    runId,
    artistId,
    workspace: found.workspace,
    turnId: found.turn_id,
    asks: found.asks,
    network: found.network,
  };
  return { kind: "run", keyId, run };
}

function resolved(
  found: z.output<typeof knownEmail>,
  named: NamedAccounts,
  credential: Caller["credential"],
  reads: boolean,
): Resolved {
  const ownerId = found.account_id;
  const allowed = { ...found.access, ...(reads && found.access.seen) };
  const accountId = allowed.account === true && named.account ? named.account : ownerId;
  return {
    caller: { accountId, ownerId, credential },
    denied: denial(allowed),
    rate: found.rate && { by: "account", ...found.rate },
  };
}

function denial(allowed: z.output<typeof verdicts>): AppError | null {
  if (allowed.account === false) {
    return appError("access_denied", "Access denied to specified account_id");
  }
  if (allowed.organization === false) {
    return appError("access_denied", "Access denied to specified organization_id");
  }
  if (allowed.artist === false) return appError("not_found", "Artist not found");
  return null;
}

/** A person who uses the console opens more pages than a stranger asks the catalog. */
const PAGES_FACTOR = 5;

/** Counts a request. Resolves to the verdict, or to null when no limit is set. */
export const limitAnonymous = (db: Database, address: string): Promise<RateVerdict | null> =>
  take(db, `anonymous:${address}`, config().ANONYMOUS_RATE_LIMIT);

/** Counts a request for a page of the console, whose sender is unknown. Resolves like `limitAnonymous`. */
export const limitPages = (db: Database, address: string): Promise<RateVerdict | null> =>
  take(db, `pages:${address}`, config().ANONYMOUS_RATE_LIMIT * PAGES_FACTOR);

async function take(db: Database, bucket: string, limit: number): Promise<RateVerdict | null> {
  if (limit === 0) return null;
  const args = { bucket, perMinute: limit };
  return { by: "address", ...(await call(db, "take_from_bucket", args, rate)) };
}
