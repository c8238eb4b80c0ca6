import type { RunScope } from "../../contract/contract.ts";

/** Who makes a request, and for which account. Spec: Authentication. */
export interface Caller {
  /** The account the request acts for: `account_id` where it was given and granted, else `ownerId`. */
  readonly accountId: string;
  /** The account that the credential itself belongs to. */
  readonly ownerId: string;
  readonly credential: CallerCredential;
}

type CallerCredential =
  | { readonly kind: "key"; readonly keyId: string }
  | { readonly kind: "bearer"; readonly email: string }
  /** What the sandbox of a run was given, be it a key or a bearer token. */
  | { readonly kind: "run"; readonly keyId: string; readonly run: RunScope };
