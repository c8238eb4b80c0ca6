/**
 * Authenticates the caller and counts the request towards the rate limits, in one round trip that also
 * checks access to the accounts that the request names.
 * Refuses: 401 for no credential, two, or an invalid one; 403 for the credential of a run where the
 * contract does not allow it.
 */
import { type AppError, isAppError } from "../../contract/app-error.ts";
import type { AccessField } from "../../contract/contract.ts";
import { otherSpelling } from "../../contract/normalize-input.ts";
import { limitAnonymous } from "../../identity/credentials/limit-anonymous.ts";
import { type Credential, readCredential } from "../../identity/credentials/read-credential.ts";
import { resolveCaller } from "../../identity/credentials/resolve-caller.ts";
import { config } from "../../platform/config.ts";
import type { Exchange } from "../exchange.ts";
import { refuseCaller, refuseSandbox } from "../guard-run.ts";
import { addressOf } from "../rate-limit.ts";
import { bodyOf } from "./read-body.ts";

export async function identify(exchange: Exchange): Promise<AppError | undefined> {
  const { contract } = exchange.plan;
  const { headers } = exchange.request;
  if (contract.auth === "none") {
    const refused = contract.runCredential === undefined ? await refuseSandbox(headers) : null;
    if (refused) return refused;
    if (contract.addressLimit) exchange.rate = await limitAnonymous(addressOf(headers));
    return undefined;
  }
  const mayBeAnonymous = contract.auth === "optional" && config().ANONYMOUS_LOOKUPS;
  const credential = await readCredential(headers, mayBeAnonymous);
  if (isAppError(credential)) return credential;
  if (credential) return identifyCaller(exchange, credential);
  exchange.rate = await limitAnonymous(addressOf(headers));
  return undefined;
}

async function identifyCaller(
  exchange: Exchange,
  credential: Credential,
): Promise<AppError | undefined> {
  const { plan, request } = exchange;
  if (plan.bodyNamesAccounts) exchange.body = await bodyOf(exchange);
  const resolved = await resolveCaller(
    credential,
    namedAccounts(exchange),
    addressOf(request.headers),
  );
  if (isAppError(resolved)) return resolved;
  if ("limited" in resolved) {
    exchange.rate = resolved.limited;
    return undefined;
  }
  const { caller, denied, rate } = resolved;
  exchange.caller = caller;
  exchange.denied = denied;
  exchange.rate = rate;
  return refuseCaller(plan.contract, caller, request.headers) ?? undefined;
}

function namedAccounts({ plan, query, body }: Exchange) {
  const bodyValue = body && !isAppError(body) ? body.value : undefined;
  const named = (field: AccessField | undefined): string | null =>
    field ? uuidIn(field.in === "body" ? bodyValue : query, field.field) : null;
  return {
    account: named(plan.contract.accountAccess),
    organization: named(plan.contract.organizationAccess),
    artist: named(plan.contract.artistAccess),
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns null for an absent or malformed id; `parse` reports a malformed one, and two that differ. */
function uuidIn(source: unknown, field: string): string | null {
  if (typeof source !== "object" || source === null) return null;
  const name = [otherSpelling(field), field].find((spelling) => Object.hasOwn(source, spelling));
  const value: unknown = name === undefined ? undefined : Reflect.get(source, name);
  const text = typeof value === "string" ? value.toLowerCase() : "";
  return UUID.test(text) ? text : null;
}
