import type { AuthError } from "@supabase/auth-js";
import { unreachable } from "@/app/(console)/_api/describe-error.ts";

/** Texts by error code. Codes that tell whether an account exists have none. */
const TEXTS: Readonly<Record<string, string>> = {
  otp_expired: "This code is incorrect or has expired. Check it, or request a new one.",
  code_dead: "Too many incorrect codes. Request a new one.",
  over_email_send_rate_limit:
    "Too many emails were sent to this address. Enter the most recent code, or try again later.",
  over_request_rate_limit: "Too many attempts. Wait a minute, then try again.",
  email_address_invalid: "Emails cannot be sent to this address.",
  validation_failed: "Check what you entered and try again.",
  not_configured: "Sign-in is not set up on this server.",
};

/** Returns what a person can do about a failed sign-in. */
export function explainAuthError(error: AuthError): string {
  if (error.name === "AuthRetryableFetchError") {
    return unreachable;
  }
  return TEXTS[error.code ?? ""] ?? "Something went wrong. Try again.";
}
