/**
 * What reaches the service from a sandbox. There a stranger's words can make the agent do anything, so
 * a request from there may do what the credential of its run may, or what anybody may without one, and
 * it can neither make an account nor use a credential that it found.
 */

import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import type { Contract } from "../contract/contract.ts";
import { tooManyRequests } from "../contract/rate-limit.ts";
import type { Caller } from "../identity/credentials/caller.ts";
import { storedCredentials } from "../identity/credentials/read-credential.ts";
import { resolveCaller } from "../identity/credentials/resolve-caller.ts";
import { isFromSandbox } from "../sandbox/outgoing-headers.ts";
import { addressOf } from "./rate-limit.ts";

const wrongCredential = appError("forbidden", "This credential cannot be used here");
const notFromSandbox = appError("forbidden", "This cannot be used from a sandbox");

/** As soon as the caller is known. */
export function refuseCaller(
  { runCredential }: Contract,
  { credential }: Caller,
  headers: Headers,
): AppError | null {
  const refused = credential.kind === "run" ? runCredential === undefined : isFromSandbox(headers);
  return refused ? wrongCredential : null;
}

/** When the request has been read: of what the contract allows under a condition. */
export function refuseRequest(
  { runCredential: rule }: Contract,
  { credential }: Caller,
  request: { readonly params: unknown; readonly query: unknown; readonly body: unknown },
): AppError | null {
  if (credential.kind !== "run" || rule === undefined || rule === true) return null;
  return rule.allows(request, credential.run) ? null : wrongCredential;
}

/**
 * Where no credential is needed one can still be refused: what runs in a sandbox must not get itself
 * a credential that outlives the run. Any other credential counts as none.
 */
export async function refuseSandbox(headers: Headers): Promise<AppError | null> {
  if (isFromSandbox(headers)) return notFromSandbox;
  const named = { account: null, organization: null, artist: null };
  for (const raw of storedCredentials(headers)) {
    const resolved = await resolveCaller({ kind: "key", raw }, named, addressOf(headers));
    if (isAppError(resolved)) continue;
    if ("limited" in resolved) return tooManyRequests(resolved.limited);
    if (resolved.caller.credential.kind === "run") return wrongCredential;
  }
  return null;
}
