import type { AuthError } from "@supabase/auth-js";

/** Words for what a person can do about it; what the auth server says of others' accounts is not among them. */
const WORDS: Readonly<Record<string, string>> = {
  otp_expired: "This code is wrong or has expired. Check it, or ask for a new one.",
  code_dead: "There were too many wrong codes. Ask for a new one.",
  over_email_send_rate_limit:
    "No more mails to this address for now. Type the code of the newest, or ask again later.",
  over_request_rate_limit: "Too many tries. Wait a minute, then try again.",
  email_address_invalid: "Mail cannot be sent to this address.",
  validation_failed: "Check what you have typed and try again.",
  not_configured: "Sign-in is not configured on this server.",
};

export function explainAuthError(error: AuthError): string {
  if (error.name === "AuthRetryableFetchError") {
    return "The service cannot be reached. Check your connection and try again.";
  }
  return WORDS[error.code ?? ""] ?? "That did not work. Try again.";
}
