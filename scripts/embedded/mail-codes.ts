import { join } from "node:path";
import type { EmailDriver } from "@supabase/lite";
import { createMailboxMailer } from "../../lib/mail/adapters/mailbox.ts";
import { createSmtpMailer } from "../../lib/mail/adapters/smtp.ts";
import type { LiteSettings } from "./lite-protocol.ts";

/** The deadline of one mail. */
const TIMEOUT_MS = 10_000;

/**
 * Sends the auth server's sign-in codes the way the application sends mail: by SMTP or to a folder.
 */
export function mailCodes({ dataDir, smtpUrl, from }: LiteSettings["mail"]): EmailDriver {
  const mailer =
    smtpUrl === null
      ? createMailboxMailer({ folder: join(dataDir, "mailbox"), from })
      : createSmtpMailer({ url: smtpUrl, from, timeoutMs: TIMEOUT_MS });
  return {
    async send({ to, subject, html }) {
      const sent = await mailer.send({ to, subject, text: textOf(html ?? "") });
      // A rejected address is answered like any other, so callers cannot probe addresses.
      if (sent.kind === "unavailable" || sent.kind === "timeout") {
        throw new Error(`The mail could not be sent (${sent.kind})`);
      }
    },
  };
}

/** Converts the HTML of `supabase/templates`, which consists only of paragraphs, to text. */
const textOf = (html: string): string => html.replace(/<\/p>/g, "\n").replace(/<[^>]*>/g, "");
