"use client";
import { Card } from "../_ui/card.tsx";
import { SignIn } from "./sign-in.tsx";

/** Shown in place of a page that needs an account. */
export function SignInPage() {
  return (
    <div className="mx-auto w-full max-w-sm px-4 py-10 sm:py-20">
      <h1 className="text-2xl font-semibold tracking-tight">Sign in</h1>
      <p className="mt-1 mb-6 text-muted-foreground">Sign in to view this page.</p>
      <Card>
        <SignIn />
      </Card>
    </div>
  );
}
