import type { Logger } from "pino";
import { appError } from "../../contract/app-error.ts";
import { rateHeaders, tooManyRequests } from "../../contract/rate-limit.ts";
import { services } from "../../platform/services.ts";
import { hashCode, newCode } from "./code.ts";
import { replaceCode, verdictOf, withdrawCode } from "./store.ts";

/**
 * Sends a code to an e-mail address. The response reveals nothing about the address.
 * Errors: 429, 502, 504. @param address the bucket of the caller's network address
 */
export async function requestCode(email: string, address: string, log: Logger) {
  const code = newCode();
  const hash = hashCode(email, code);
  const answer = await replaceCode(email, hash, address);
  if (answer.outcome === "limited") return tooManyRequests(verdictOf(answer.rate));
  if (answer.outcome === "mail") {
    const { name, send } = services().mail;
    const sent = await send({ to: email, subject: `Your code is ${code}`, text: letter(code) });
    if (sent.kind !== "sent")
      log.warn({ mailer: name, outcome: sent.kind, cause: sent.cause }, "mail");
    if (sent.kind === "unavailable" || sent.kind === "timeout") {
      await withdrawCode(email, hash, address);
      const kind = sent.kind === "timeout" ? "upstream_timeout" : "upstream_error";
      return appError(kind, "Failed to send the verification code");
    }
    // An address that its mail server refuses gets the same response as any other.
  }
  return {
    body: {
      status: "success",
      message: "If this address can receive mail, a verification code is on its way",
    },
    headers: answer.rate ? rateHeaders(verdictOf(answer.rate)) : {},
  } as const;
}

const letter = (code: string): string => `Your verification code is ${code}

It expires in 15 minutes and can be used once. If you did not request it, you can ignore this email.
`;
