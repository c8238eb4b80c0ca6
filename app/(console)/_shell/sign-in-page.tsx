"use client";
import { SignIn } from "./sign-in.tsx";

/** Stands where a page is that needs an account. */
export function SignInPage() {
  return (
    <div className="mx-auto w-full max-w-sm px-4 py-10 sm:py-20">
      <h1 className="text-2xl font-semibold tracking-tight">Sign in</h1>
      <p className="mt-1 mb-6 text-muted-foreground">This page is for those who are signed in.</p>
      <SignIn />
    </div>
  );
}
