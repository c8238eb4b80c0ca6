/** Which mail adapter this process uses: SMTP where it is configured, else files on this machine. */
import { join } from "node:path";
import { config } from "../platform/config.ts";
import { createMailboxMailer } from "./adapters/mailbox.ts";
import { createSmtpMailer } from "./adapters/smtp.ts";
import type { Mailer } from "./port.ts";

/** Milliseconds that one mail may take. */
const DEADLINE = 10_000;

/** Told by `GET /api/health`. */
export const mailAdapter = (): Mailer["name"] => (config().SMTP_URL ? "smtp" : "mailbox");

declare global {
  var agentPlatformMailer: Mailer | undefined;
}

export function mailer(): Mailer {
  globalThis.agentPlatformMailer ??= createMailer();
  return globalThis.agentPlatformMailer;
}

/** Where mail goes without SMTP. */
export const mailboxFolder = (): string => join(config().DATA_DIR, "mailbox");

function createMailer(): Mailer {
  const { SMTP_URL: url, MAIL_FROM } = config();
  const from = MAIL_FROM ?? "Agent Platform <no-reply@localhost>";
  if (url !== undefined) return createSmtpMailer({ url, from, deadline: DEADLINE });
  return createMailboxMailer({ folder: mailboxFolder(), from });
}
