/** Sends mail through any SMTP server. */
import { Readable } from "node:stream";
import { accepted, codeOf, describeFailure, type Probe } from "@platform/kit/outbound/probe";
import { inSpan } from "@platform/kit/telemetry/spans";
import { createTransport } from "nodemailer";
import { z } from "zod";
import { bufferOf } from "../attachment-buffer.ts";
import type { Mailer, MailFailure } from "../port.ts";

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
  return {
    name: "smtp",
    async send({ attachments = [], ...mail }, options = {}) {
      let hasContent = false;
      const transport = createTransport(
        // The content of a mail must not make this process read files or request URLs.
        { url, disableFileAccess: true, disableUrlAccess: true },
        { from },
      );
      transport.use("stream", ({ message }, done) => {
        const open = message.createReadStream.bind(message);
        // The driver reads it once the server has answered DATA.
        async function* content() {
          await options.beforeContent?.();
          hasContent = true;
          yield* open();
        }
        message.createReadStream = () => Readable.from(content());
        done();
      });
      try {
        const signal = AbortSignal.timeout(options.timeoutMs ?? timeoutMs);
        await inSpan("vendor smtp", { kind: "client" }, () =>
          transport.sendMail({ ...mail, attachments: attachments.map(bufferOf), signal }),
        );
        return { kind: "sent" };
      } catch (error) {
        return outcomeOf(error, hasContent);
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

function outcomeOf(error: unknown, hasContent: boolean): MailFailure {
  const { code, command, responseCode, message: cause } = failure.parse(error);
  // An answer to the content is a refusal: only then the mail server must not deliver it (RFC 5321, 4.2.5).
  const mayHaveArrived = hasContent && responseCode === undefined;
  const isPermanent = responseCode !== undefined && responseCode >= 500;
  const more = { cause, mayHaveArrived, isPermanent: isPermanent && command === "DATA" };
  if (code === "EABORT" || code === "ETIMEDOUT") return { kind: "timeout", ...more };
  if (command === "RCPT TO" && isPermanent) return { kind: "refused", ...more };
  return { kind: "unavailable", ...more };
}
