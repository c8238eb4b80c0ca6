"use client";
import { type FormEvent, useState } from "react";
import { authClient } from "@/app/(console)/_session/auth.ts";
import { signInAsDeveloper } from "@/app/(console)/_session/developer-sign-in.ts";
import { explainAuthError } from "@/app/(console)/_session/explain-auth-error.ts";
import { Button } from "../_ui/button.tsx";
import { Field } from "../_ui/field.tsx";
import { Input } from "../_ui/input.tsx";
import { useFrame } from "./frame.tsx";

/** By a mailed code, which also makes the account of a new address. */
export function SignIn() {
  const { developerSignIn } = useFrame();
  const [asked, setAsked] = useState(false);
  const [email, setEmail] = useState("");
  const [code, setCode] = useState("");
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);

  const attempt = async (work: () => Promise<string | null>) => {
    setBusy(true);
    setFault(null);
    setFault(await work());
    setBusy(false);
  };

  const begin = async (): Promise<string | null> => {
    const client = await authClient();
    const { error } = await client.signInWithOtp({ email });
    // Without another mail there may still be a code to type: of the mails before.
    if (error && error.code !== "over_email_send_rate_limit") return explainAuthError(error);
    setCode("");
    setAsked(true);
    return error && explainAuthError(error);
  };

  const verify = async (): Promise<string | null> => {
    const client = await authClient();
    const { error } = await client.verifyOtp({ email, token: code.trim(), type: "email" });
    return error && explainAuthError(error);
  };

  const submit = (event: FormEvent) => {
    event.preventDefault();
    void attempt(asked ? verify : begin);
  };

  return (
    <div className="flex flex-col gap-4">
      <form onSubmit={submit} className="flex flex-col gap-4" aria-busy={busy}>
        {!asked ? (
          <Field label="E-mail">
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
          <Field label="Code" hint={`Mailed to ${email}. It is valid for 15 minutes.`}>
            {(ids) => (
              <Input
                {...ids}
                required
                autoFocus
                inputMode="numeric"
                autoComplete="one-time-code"
                pattern="\s*[0-9]{6,10}\s*"
                title="The digits of the mail"
                className="font-mono tracking-[0.3em]"
                value={code}
                onChange={(event) => setCode(event.target.value)}
              />
            )}
          </Field>
        )}
        {fault !== null && (
          <p
            role="alert"
            className="rounded-md bg-danger-soft px-3 py-2 break-words text-danger-text"
          >
            {fault}
          </p>
        )}
        <Button type="submit" size="lg" busy={busy}>
          {asked ? "Sign in" : "Mail me a code"}
        </Button>
      </form>
      <p className="text-sm text-muted-foreground">
        {asked ? (
          <button
            type="button"
            onClick={() => setAsked(false)}
            className="rounded-sm text-accent-text underline-offset-4 hover:underline"
          >
            Use another address or ask again
          </button>
        ) : (
          "New here? The code makes your account."
        )}
      </p>
      {developerSignIn && !asked && (
        <div className="border-t pt-4">
          <Button
            variant="outline"
            size="lg"
            className="w-full"
            busy={busy}
            onClick={() => void attempt(signInAsDeveloper)}
          >
            Sign in as developer@example.com
          </Button>
          <p className="mt-1.5 text-sm text-muted-foreground">
            Only in development, on this machine.
          </p>
        </div>
      )}
    </div>
  );
}
