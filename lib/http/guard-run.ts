/**
 * Limits requests from a sandbox, where injected text can make the agent do anything. Such a request may
 * do only what its run's credential allows, or call endpoints that need no credential. It can neither
 * create an account nor use another credential that it has found.
 */

import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import type { Contract } from "../contract/contract.ts";
import { tooManyRequests } from "../contract/rate-limit.ts";
import type { Caller } from "../identity/credentials/caller.ts";
import { resolveCaller, storedCredentials } from "../identity/credentials/resolve-caller.ts";
import { isFromSandbox } from "../sandbox/outgoing-headers.ts";
import { addressOf } from "./address.ts";

const wrongCredential = appError("forbidden", "This credential cannot be used here");
const notFromSandbox = appError("forbidden", "This cannot be used from a sandbox");

/** Refuses a run's credential that the contract does not allow, and any other from a sandbox. */
export function refuseCaller(
  { runCredential }: Contract,
  { credential }: Caller,
  headers: Headers,
): AppError | null {
  const refused = credential.kind === "run" ? runCredential === undefined : isFromSandbox(headers);
  return refused ? wrongCredential : null;
}

/** Refuses a run's credential for a parsed request that the contract's condition does not allow. */
export function refuseRequest(
  { runCredential: rule }: Contract,
  { credential }: Caller,
  request: { readonly params: unknown; readonly query: unknown; readonly body: unknown },
): AppError | null {
  if (credential.kind !== "run" || rule === undefined || rule === true) return null;
  return rule.allows(request, credential.run) ? null : wrongCredential;
}

/**
 * Refuses sandboxes at an endpoint that needs no credential: code in a sandbox must not obtain a
 * credential that outlives the run. Credentials of anyone else are ignored there.
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
