"use client";
import { type FormEvent, useState } from "react";
import { unreachable } from "@/app/(console)/_api/describe-error.ts";
import { authClient } from "@/app/(console)/_session/auth.ts";
import { signInAsDeveloper } from "@/app/(console)/_session/developer-sign-in.ts";
import { explainAuthError } from "@/app/(console)/_session/explain-auth-error.ts";
import { DEVELOPER_EMAIL } from "@/lib/identity/credentials/developer-account.ts";
import { Button } from "../_ui/button.tsx";
import { Field } from "../_ui/field.tsx";
import { Input } from "../_ui/input.tsx";
import { useFrame } from "./frame.tsx";

/** The sign-in form. It emails a code, which also creates the account of a new address. */
export function SignIn() {
  const { developerSignIn, developerMail } = useFrame();
  const [isCodeSent, setCodeSent] = useState(false);
  const [email, setEmail] = useState("");
  const [code, setCode] = useState("");
  const [busy, setBusy] = useState(false);
  const [errorText, setErrorText] = useState<string | null>(null);

  const attempt = async (work: () => Promise<string | null>) => {
    setBusy(true);
    setErrorText(null);
    // The library that does it is loaded when it is needed.
    setErrorText(await work().catch(() => unreachable));
    setBusy(false);
  };

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

  const submit = (event: FormEvent) => {
    event.preventDefault();
    void attempt(isCodeSent ? verify : requestCode);
  };

  return (
    <div className="flex flex-col gap-4">
      {developerSignIn && !isCodeSent && (
        <div className="border-b pb-4">
          <Button
            size="lg"
            className="w-full"
            busy={busy}
            onClick={() => void attempt(signInAsDeveloper)}
          >
            Continue as {DEVELOPER_EMAIL}
          </Button>
          <p className="mt-1.5 text-sm text-muted-foreground">
            One click, no code: an account to try things out, in local development only.
          </p>
        </div>
      )}
      <form onSubmit={submit} className="flex flex-col gap-4" aria-busy={busy}>
        {!isCodeSent ? (
          <Field key="email" label="Email">
            {(ids) => (
              <Input
                {...ids}
                type="email"
                required
                maxLength={254}
                autoComplete="email"
                value={email}
                onChange={(event) => setEmail(event.target.value)}
              />
            )}
          </Field>
        ) : (
          <Field key="code" label="Code" hint={`Sent to ${email}. It expires in 15 minutes.`}>
            {(ids) => (
              <Input
                {...ids}
                required
                autoFocus
                inputMode="numeric"
                autoComplete="one-time-code"
                pattern="\s*[0-9]{6,10}\s*"
                title="The digits from the email"
                className="font-mono tracking-[0.3em]"
                value={code}
                onChange={(event) => setCode(event.target.value)}
              />
            )}
          </Field>
        )}
        {errorText !== null && (
          <p
            role="alert"
            className="rounded-md bg-danger-soft px-3 py-2 break-words text-danger-text"
          >
            {errorText}
          </p>
        )}
        <Button
          type="submit"
          size="lg"
          variant={developerSignIn && !isCodeSent ? "outline" : "primary"}
          busy={busy}
        >
          {isCodeSent ? "Sign in" : "Send code"}
        </Button>
      </form>
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
