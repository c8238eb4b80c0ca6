/** The port that every mail adapter implements. */
import type { Checkable } from "@platform/kit/outbound/probe";

export interface Attachment {
  readonly filename: string;
  readonly content: Uint8Array;
}

export interface Mail {
  /** A single, validated email address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** An alternative to the text. */
  readonly html?: string;
  readonly attachments?: readonly Attachment[];
  /** Between angle brackets; a new one by default. */
  readonly messageId?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface SendOptions {
  /**
   * Is awaited once, after the mail server has accepted the addresses and before it gets any of the content.
   * If it rejects, nothing is sent. Until then, a mail has certainly not arrived.
   */
  readonly beforeContent?: () => Promise<void>;
  /** In place of the adapter's deadline. */
  readonly timeoutMs?: number;
}

export interface MailFailure {
  /** `refused`: the mail server permanently rejects this address. */
  readonly kind: "refused" | "unavailable" | "timeout";
  /** For the log. */
  readonly cause: string;
  /** Whether the mail may have arrived nevertheless: its content was sent, and the mail server did not refuse it. */
  readonly mayHaveArrived: boolean;
  /** Whether the mail server permanently rejects the content. */
  readonly isPermanent: boolean;
}

export type MailOutcome = { readonly kind: "sent" } | MailFailure;

export interface Mailer extends Checkable {
  readonly name: "smtp" | "mailbox";
  /** Resolves within the deadline. Failures of the mail server are outcomes, not errors. */
  send(mail: Mail, options?: SendOptions): Promise<MailOutcome>;
}
