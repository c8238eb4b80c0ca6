/** Sends mail through any SMTP server. */
import { createTransport } from "nodemailer";
import { z } from "zod";
import { inSpan } from "../../platform/telemetry/spans.ts";
import type { Mailer, MailOutcome } from "../port.ts";

const failure = z.object({
  code: z.string().optional(),
  command: z.string().optional(),
  responseCode: z.number().optional(),
  message: z.string(),
});

/**
 * @param options.url such as `smtps://user:password@host:465`
 * @param options.timeoutMs the deadline of one mail
 */
export function createSmtpMailer(options: {
  readonly url: string;
  readonly from: string;
  readonly timeoutMs: number;
}): Mailer {
  const { url, from, timeoutMs } = options;
  const transport = createTransport(
    // The content of a mail must not make this process read files or request URLs.
    { url, disableFileAccess: true, disableUrlAccess: true },
    { from },
  );
  return {
    name: "smtp",
    async send(mail) {
      try {
        await inSpan("vendor smtp", { kind: "client" }, () =>
          transport.sendMail({ ...mail, signal: AbortSignal.timeout(timeoutMs) }),
        );
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
