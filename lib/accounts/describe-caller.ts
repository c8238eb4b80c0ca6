import type { Caller } from "../identity/credentials/caller.ts";
import { storedCredentials } from "../identity/credentials/resolve-caller.ts";
import { isWellFormedKey } from "../identity/keys/key-format.ts";
import type { AccountView } from "./account.ts";

/**
 * Returns the account of the caller and the kind of its credential.
 * @param headers of the request: the credential of a run is a key or a bearer token
 */
export function describeCaller(view: AccountView, { credential }: Caller, headers: Headers) {
  const type = storedCredentials(headers).some(isWellFormedKey) ? "api_key" : "bearer";
  const scope = credential.kind === "run" ? "run" : "full";
  return { body: { status: "success", ...view, credential: { type, scope } } } as const;
}
