"use client";
import { type FormEvent, useState } from "react";
import { authClient } from "@/lib/console/auth.ts";
import { signInAsDeveloper } from "@/lib/console/developer-sign-in.ts";
import { explainAuthError } from "@/lib/console/explain-auth-error.ts";
import { Button } from "../_ui/button.tsx";
import { Field } from "../_ui/field.tsx";
import { Input } from "../_ui/input.tsx";
import { useFrame } from "./frame.tsx";

/** `code`: asked for a mailed code. `confirm`: signed up with a password, the address to be proved. */
type Step = "start" | "code" | "confirm";
type Way = "code" | "password" | "sign-up";

/** By a mailed code, by password, or with a new password whose address a code proves. */
export function SignIn() {
  const { developerSignIn } = useFrame();
  const [way, setWay] = useState<Way>("code");
  const [step, setStep] = useState<Step>("start");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
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
    if (way === "password") {
      const { error } = await client.signInWithPassword({ email, password });
      return error && explainAuthError(error);
    }
    const { error } =
      way === "code"
        ? await client.signInWithOtp({ email })
        : await client.signUp({ email, password });
    if (error) return explainAuthError(error);
    setCode("");
    setStep(way === "code" ? "code" : "confirm");
    return null;
  };

  const verify = async (): Promise<string | null> => {
    const client = await authClient();
    const type = step === "confirm" ? "signup" : "email";
    const { error } = await client.verifyOtp({ email, token: code.trim(), type });
    return error && explainAuthError(error);
  };

  const submit = (event: FormEvent) => {
    event.preventDefault();
    void attempt(step === "start" ? begin : verify);
  };
  const choose = (next: Way) => {
    setWay(next);
    setFault(null);
  };

  return (
    <div className="flex flex-col gap-4">
      <form onSubmit={submit} className="flex flex-col gap-4" aria-busy={busy}>
        {step === "start" ? (
          <>
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
            {way !== "code" && (
              <Field
                label="Password"
                {...(way === "sign-up" ? { hint: "At least 8 characters." } : {})}
              >
                {(ids) => (
                  <Input
                    {...ids}
                    type="password"
                    required
                    minLength={way === "sign-up" ? 8 : 1}
                    maxLength={72}
                    autoComplete={way === "sign-up" ? "new-password" : "current-password"}
                    value={password}
                    onChange={(event) => setPassword(event.target.value)}
                  />
                )}
              </Field>
            )}
          </>
        ) : (
          <Field label="Code" hint={`Six digits, mailed to ${email}.`}>
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
          {step !== "start"
            ? "Confirm code"
            : { code: "Mail me a code", password: "Sign in", "sign-up": "Create account" }[way]}
        </Button>
      </form>
      {step === "start" ? (
        <div className="flex flex-wrap justify-between gap-x-4 gap-y-1 text-sm">
          {way !== "code" && (
            <TextButton onClick={() => choose("code")}>Use a code instead</TextButton>
          )}
          {way !== "password" && (
            <TextButton onClick={() => choose("password")}>Use a password</TextButton>
          )}
          {way !== "sign-up" && (
            <TextButton onClick={() => choose("sign-up")}>
              Create an account with a password
            </TextButton>
          )}
        </div>
      ) : (
        <div className="text-sm">
          <TextButton
            onClick={() => {
              setStep("start");
              setFault(null);
            }}
          >
            Use another address or ask again
          </TextButton>
        </div>
      )}
      {developerSignIn && step === "start" && (
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

function TextButton({
  onClick,
  children,
}: {
  readonly onClick: () => void;
  readonly children: string;
}) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="rounded-sm text-accent-text underline-offset-4 hover:underline"
    >
      {children}
    </button>
  );
}
