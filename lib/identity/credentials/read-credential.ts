/**
 * Reads the credential of a request and checks it as far as possible without the database: exactly
 * one mechanism, a well-formed key, a bearer token that verifies.
 */
import { type AppError, appError } from "../../contract/app-error.ts";
import { isWellFormedKey, isWellFormedRunToken } from "../keys/key-format.ts";
import { type VerifiedToken, verifyBearer } from "./verify-bearer.ts";

export type Credential =
  /** An API key in either header, or the token of a run, which is stored like a key. */
  { readonly kind: "key"; readonly raw: string } | ({ readonly kind: "bearer" } & VerifiedToken);

/** One text for every invalid credential, so responses reveal nothing about it. */
export const unauthorized = appError("unauthorized", "Unauthorized");

const notExactlyOne = appError(
  "unauthorized",
  "Exactly one of x-api-key or Authorization must be provided",
);

/** Resolves to null without a credential, if it is optional. Errors: 401. */
export async function readCredential(
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
  const verified = await verifyBearer(token);
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
