/**
 * What a request presents, checked as far as it can be without the database: exactly one
 * mechanism, a well-spelled key, a bearer that verifies. Decisions, section 2.
 */
import { type AppError, appError } from "../http/app-error.ts";
import { isWellFormedKey } from "../keys/key-format.ts";
import { verifyBearer } from "./verify-bearer.ts";

export type Credential =
  | { readonly kind: "key"; readonly raw: string }
  | { readonly kind: "bearer"; readonly token: string; readonly email: string };

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
  const token = /^bearer +([^\s]+) *$/i.exec(authorization ?? "")?.[1];
  if (token === undefined) return unauthorized;
  const email = await verifyBearer(token);
  return email === null ? unauthorized : { kind: "bearer", token, email };
}
