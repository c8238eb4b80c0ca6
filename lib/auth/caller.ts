/** Who makes a request, and for which account. Spec: Authentication; decisions, section 2. */
export interface Caller {
  /** The account the request acts for: `account_id` where it was given and granted, else `ownerId`. */
  readonly accountId: string;
  /** The account that the credential itself belongs to. */
  readonly ownerId: string;
  readonly credential: CallerCredential;
}

export type CallerCredential =
  | {
      readonly kind: "key";
      readonly keyId: string;
      readonly scope: "full" | "run";
      /** The durable run that a `run` key was made for. */
      readonly runId: string | null;
    }
  | {
      readonly kind: "bearer";
      /** The raw token, for the sandbox's calls back. Never stored, never logged. */
      readonly token: string;
      readonly email: string;
    };
