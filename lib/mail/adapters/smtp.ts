/** Sends mail through any SMTP server. */
import { createTransport } from "nodemailer";
import { z } from "zod";
import { accepted, codeOf, describeFailure, type Probe } from "../../platform/outbound/probe.ts";
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
    check: async (deadline) => [await probe(url, deadline, timeoutMs)],
  };
}

const access = { credentials: ["SMTP_URL"], address: ["SMTP_URL"] };

/** Connects and logs in, and sends nothing. */
async function probe(text: string, deadline: AbortSignal, timeoutMs: number): Promise<Probe> {
  const url = new URL(text);
  // The driver cannot cancel a verification: after the deadline, these end it.
  const limits = {
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  };
  const transport = createTransport({ url: text, ...limits });
  const late = Promise.withResolvers<never>();
  const end = () => late.reject(deadline.reason);
  deadline.addEventListener("abort", end, { once: true });
  try {
    await Promise.race([transport.verify(), late.promise]);
    return accepted(url, access);
  } catch (error) {
    if (codeOf(error) !== "EAUTH") return describeFailure(url, error, access);
    const detail = `${url.host} rejects the user or the password`;
    return { outcome: "credentials", detail, settings: access.credentials };
  } finally {
    deadline.removeEventListener("abort", end);
    transport.close();
  }
}

function outcomeOf(error: unknown): MailOutcome {
  const { code, command, responseCode, message } = failure.parse(error);
  if (code === "EABORT" || code === "ETIMEDOUT") return { kind: "timeout", cause: message };
  const isPermanent = responseCode !== undefined && responseCode >= 500;
  if (command === "RCPT TO" && isPermanent) return { kind: "refused", cause: message };
  return { kind: "unavailable", cause: message };
}
