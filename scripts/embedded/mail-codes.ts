import { join } from "node:path";
import type { EmailDriver } from "@supabase/lite";
import { createMailboxMailer } from "../../lib/mail/adapters/mailbox.ts";
import { createSmtpMailer } from "../../lib/mail/adapters/smtp.ts";
import type { LiteSettings } from "./lite-protocol.ts";

/** Milliseconds that one mail may take. */
const deadline = 10_000;

/** Sends the auth server's codes as the application sends its mail: by SMTP, or into a folder. */
export function mailCodes({ dataDir, smtpUrl, from }: LiteSettings["mail"]): EmailDriver {
  const mailer =
    smtpUrl === null
      ? createMailboxMailer({ folder: join(dataDir, "mailbox"), from })
      : createSmtpMailer({ url: smtpUrl, from, deadline });
  return {
    async send({ to, subject, html }) {
      const sent = await mailer.send({ to, subject, text: textOf(html ?? "") });
      // An address that its mail server refuses is answered like any other: it is nobody's business.
      if (sent.kind === "unavailable" || sent.kind === "timeout") {
        throw new Error(`The mail was not sent (${sent.kind})`);
      }
    },
  };
}

/** Of `supabase/templates`, which have paragraphs and nothing more. */
const textOf = (html: string): string => html.replace(/<\/p>/g, "\n").replace(/<[^>]*>/g, "");
