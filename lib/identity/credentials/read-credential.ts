/**
 * What a request presents, checked as far as it can be without the database: exactly one
 * mechanism, a well-spelled key, a bearer that verifies.
 */
import { type AppError, appError } from "../../contract/app-error.ts";
import { isWellFormedKey, isWellFormedRunToken } from "../keys/key-format.ts";
import { verifyBearer } from "./verify-bearer.ts";

export type Credential =
  /** A key, or the token of a run, which is stored as one. */
  | { readonly kind: "key"; readonly raw: string }
  | { readonly kind: "bearer"; readonly email: string };

/** One text for every credential that does not hold, so that nothing can be probed. */
export const unauthorized = appError("unauthorized", "Unauthorized");

const notExactlyOne = appError(
  "unauthorized",
  "Exactly one of x-api-key or Authorization must be provided",
);

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
  if (isWellFormedRunToken(token)) return { kind: "key", raw: token };
  const email = await verifyBearer(token);
  return email === null ? unauthorized : { kind: "bearer", email };
}

/** What could be the credential of a run, well-spelled: where none is needed, both may be there. */
export function storedCredentials(headers: Headers): string[] {
  const key = headers.get("x-api-key") ?? "";
  const token = bearerOf(headers.get("authorization") ?? "") ?? "";
  return [...(isWellFormedKey(key) ? [key] : []), ...(isWellFormedRunToken(token) ? [token] : [])];
}

const bearerOf = (authorization: string): string | undefined =>
  /^bearer +([^\s]+) *$/i.exec(authorization)?.[1];
