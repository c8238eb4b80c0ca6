/** The port that every mail adapter implements. */
interface Mail {
  /** One checked e-mail address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** `refused`: the mail server will never take mail for this address. */
export type MailOutcome =
  | { readonly kind: "sent" }
  | { readonly kind: "refused" | "unavailable" | "timeout"; readonly cause: string };

export interface Mailer {
  readonly name: "smtp" | "mailbox";
  /** Answers within the adapter's deadline, and never throws for what a mail server does. */
  send(mail: Mail): Promise<MailOutcome>;
}
