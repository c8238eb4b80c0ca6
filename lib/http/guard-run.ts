/**
 * Limits requests from a sandbox, where injected text can make the agent do anything. Such a request may
 * do only what its run's credential allows, or call endpoints that need no credential. It can neither
 * create an account nor use another credential that it has found.
 */

import { z } from "zod";
import { type AppError, appError, isAppError } from "../contract/app-error.ts";
import type { Contract } from "../contract/contract.ts";
import { tooManyRequests } from "../contract/rate-limit.ts";
import type { Caller } from "../identity/credentials/caller.ts";
import { resolveCaller, storedCredentials } from "../identity/credentials/resolve-caller.ts";
import { APPROVED_CALL, isMarked } from "../identity/keys/approved-call.ts";
import { call } from "../platform/database/query.ts";
import { isFromSandbox } from "../sandbox/outgoing-headers.ts";
import { addressOf } from "./address.ts";
import type { Exchange } from "./exchange.ts";

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
 * Refuses a run's credential an effect for which its policies require an approval. The agent asks for it before
 * it makes the request itself; a command of its sandbox cannot.
 */
export function refuseEffect({ plan, caller, request, body }: Exchange): AppError | null {
  const { effect } = plan.contract;
  if (effect === undefined || caller?.credential.kind !== "run") return null;
  const { run } = caller.credential;
  if (!run.asks.includes(effect)) return null;
  const call = {
    turnId: run.turnId,
    method: request.method,
    path: new URL(request.url).pathname,
    body: body && !isAppError(body) ? body.value : undefined,
  };
  return isMarked(request.headers.get(APPROVED_CALL), call) ? null : needsApproval;
}

const needsApproval = appError(
  "forbidden",
  "A person must approve this: make the same request with the tool fetch, which asks for it",
);

/** Notes that a run has got the words of a stranger. */
export async function noteMet(
  { meets }: Contract,
  { ownerId, credential }: Caller,
  params: unknown,
): Promise<void> {
  if (!meets || credential.kind !== "run") return;
  const source = meets((params ?? {}) as Readonly<Record<string, string>>);
  const args = { p_account_id: ownerId, p_turn_id: credential.run.turnId, p_sources: [source] };
  await call("mark_turn_untrusted", args, z.unknown());
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
