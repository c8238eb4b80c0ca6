/** The port that every mail adapter implements. */
import type { Checkable } from "../platform/outbound/probe.ts";

interface Mail {
  /** A single, validated email address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** `refused`: the mail server permanently rejects this address. `cause` is for the log. */
export type MailOutcome =
  | { readonly kind: "sent" }
  | { readonly kind: "refused" | "unavailable" | "timeout"; readonly cause: string };

export interface Mailer extends Checkable {
  readonly name: "smtp" | "mailbox";
  /** Resolves within the adapter's deadline. Failures of the mail server are outcomes, not errors. */
  send(mail: Mail): Promise<MailOutcome>;
}
