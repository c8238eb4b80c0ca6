import type { RunScope } from "@platform/endpoint/contract/contract";
import type { TurnPolicies } from "@platform/kit/network-policy";

/** The authenticated principal of a request. */
export interface Caller {
  /** The account that the request acts for: a granted `account_id`, else `ownerId`. */
  readonly accountId: string;
  /** The account that the credential itself belongs to. */
  readonly ownerId: string;
  readonly credential: CallerCredential;
}

type CallerCredential =
  | { readonly kind: "key"; readonly keyId: string }
  | { readonly kind: "bearer"; readonly email: string }
  /** A scheduled prompt, which no request starts. */
  | { readonly kind: "schedule" }
  /** The credential of a run's sandbox, a key or a bearer token. */
  | { readonly kind: "run"; readonly keyId: string; readonly run: RunScope };

/** Returns the network policies of the run that calls; none for all other callers. */
export const networkOf = ({ credential }: Caller): TurnPolicies =>
  credential.kind === "run" ? credential.run.network : [];

/** Returns the id of the caller's API key, or of the credential of its run; null for all others. */
export const keyIdOf = ({ credential }: Caller): string | null =>
  "keyId" in credential ? credential.keyId : null;

/** Returns the id of the turn whose run calls; null for all other callers. */
export const turnIdOf = ({ credential }: Caller): string | null =>
  credential.kind === "run" ? credential.run.turnId : null;
