/** Mail through any SMTP server. */
import { createTransport } from "nodemailer";
import { z } from "zod";
import type { Mailer, MailOutcome } from "../port.ts";

const failure = z.object({
  code: z.string().optional(),
  command: z.string().optional(),
  responseCode: z.number().optional(),
  message: z.string(),
});

/** @param options.url as `smtps://user:password@host:465`; deadline in milliseconds, for a mail */
export function createSmtpMailer(options: {
  readonly url: string;
  readonly from: string;
  readonly deadline: number;
}): Mailer {
  const { url, from, deadline } = options;
  const transport = createTransport(
    // What a mail says can never make this process read a file or ask another server.
    { url, disableFileAccess: true, disableUrlAccess: true },
    { from },
  );
  return {
    name: "smtp",
    async send(mail) {
      try {
        await transport.sendMail({ ...mail, signal: AbortSignal.timeout(deadline) });
        return { kind: "sent" };
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}

function outcomeOf(error: unknown): MailOutcome {
  const { code, command, responseCode, message } = failure.parse(error);
  if (code === "EABORT" || code === "ETIMEDOUT") return { kind: "timeout", cause: message };
  const isPermanent = responseCode !== undefined && responseCode >= 500;
  if (command === "RCPT TO" && isPermanent) return { kind: "refused", cause: message };
  return { kind: "unavailable", cause: message };
}
