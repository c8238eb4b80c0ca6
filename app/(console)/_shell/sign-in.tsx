import type { AuthError } from "@supabase/auth-js";
import { useState, useTransition } from "react";
import { DEVELOPER_EMAIL } from "@/lib/identity/credentials/developer-account.ts";
import { unreachable } from "../_api/describe-error.ts";
import { authClient } from "../_session/auth.ts";
import { Button } from "../_ui/button.tsx";
import { Card } from "../_ui/card.tsx";
import { Form, TextField } from "../_ui/form.tsx";
import { ErrorNote } from "../_ui/states.tsx";
import { useFrame } from "./frame.tsx";

/** The sign-in form. It emails a code, which also creates the account of a new address. */
export function SignIn() {
  const { developerSignIn, developerMail } = useFrame();
  const [isCodeSent, setCodeSent] = useState(false);
  const [email, setEmail] = useState("");
  const [code, setCode] = useState("");
  const [busy, start] = useTransition();
  const [errorText, setErrorText] = useState<string | null>(null);

  const attempt = (work: () => Promise<string | null>) =>
    start(async () => {
      setErrorText(null);
      // The library that does it is loaded when it is needed.
      setErrorText(await work().catch(() => unreachable));
    });

  const requestCode = async (): Promise<string | null> => {
    const client = await authClient();
    const { error } = await client.signInWithOtp({ email });
    // When no more emails are sent, the code of the last one may still be valid.
    if (error && error.code !== "over_email_send_rate_limit") return explainAuthError(error);
    setCode("");
    setCodeSent(true);
    return error && explainAuthError(error);
  };

  const verify = async (): Promise<string | null> => {
    const client = await authClient();
    const { error } = await client.verifyOtp({ email, token: code.trim(), type: "email" });
    return error && explainAuthError(error);
  };

  return (
    <div className="flex flex-col gap-4">
      {developerSignIn && !isCodeSent && (
        <div className="border-b pb-4">
          <Button
            size="lg"
            className="w-full"
            busy={busy}
            onClick={() => attempt(signInAsDeveloper)}
          >
            Continue as {DEVELOPER_EMAIL}
          </Button>
          <p className="mt-1.5 text-sm text-muted-foreground">
            One click, no code: an account to try things out, in local development only.
          </p>
        </div>
      )}
      <Form
        onSubmit={() => attempt(isCodeSent ? verify : requestCode)}
        className="flex flex-col gap-4"
        aria-busy={busy}
      >
        {!isCodeSent ? (
          <TextField
            key="email"
            label="Email"
            type="email"
            required
            maxLength={254}
            autoComplete="email"
            value={email}
            onChange={setEmail}
          />
        ) : (
          <TextField
            key="code"
            label="Code"
            hint={`Sent to ${email}. It expires in 15 minutes.`}
            required
            autoFocus
            inputMode="numeric"
            autoComplete="one-time-code"
            pattern="\s*[0-9]{6,10}\s*"
            title="The digits from the email"
            className="[&_input]:font-mono [&_input]:tracking-[0.3em]"
            value={code}
            onChange={setCode}
          />
        )}
        <ErrorNote>{errorText}</ErrorNote>
        <Button
          type="submit"
          size="lg"
          variant={developerSignIn && !isCodeSent ? "outline" : "primary"}
          busy={busy}
        >
          {isCodeSent ? "Sign in" : "Send code"}
        </Button>
      </Form>
      <p className="text-sm text-muted-foreground">
        {isCodeSent ? (
          <button
            type="button"
            onClick={() => setCodeSent(false)}
            className="rounded-sm text-accent-text underline-offset-4 hover:underline"
          >
            Use a different email or request a new code
          </button>
        ) : (
          "New here? The code also creates your account."
        )}
      </p>
      {developerMail && (
        <p className="rounded-md bg-warning-soft px-3 py-2 text-sm text-warning-text">
          This server sends no mail: your code is in the{" "}
          <a
            href="/dev/mail"
            target="_blank"
            rel="noreferrer"
            className="font-medium underline underline-offset-4"
          >
            development inbox
          </a>
          .
        </p>
      )}
    </div>
  );
}

/** Signs in as the seeded account of `npm run dev`. Resolves to null, or to an error text. */
async function signInAsDeveloper(): Promise<string | null> {
  const response = await fetch("/auth/developer", { method: "POST" });
  if (!response.ok) return "Could not sign in with the development account.";
  const { access_token, refresh_token } = await response.json();
  const { error } = await (await authClient()).setSession({ access_token, refresh_token });
  return error && "Could not sign in with the development account.";
}

/** Texts by error code. Codes that reveal whether an account exists have none. */
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

function explainAuthError(error: AuthError): string {
  if (error.name === "AuthRetryableFetchError") return unreachable;
  return TEXTS[error.code ?? ""] ?? "Something went wrong. Try again.";
}

/** Shown in place of a page that needs an account. */
export const SignInPage = () => (
  <div className="mx-auto w-full max-w-sm px-4 py-10 sm:py-20">
    <h1 className="text-2xl font-semibold tracking-tight">Sign in</h1>
    <p className="mt-1 mb-6 text-muted-foreground">Sign in to view this page.</p>
    <Card>
      <SignIn />
    </Card>
  </div>
);
