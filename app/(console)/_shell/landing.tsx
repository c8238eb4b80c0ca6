"use client";
import { SignIn } from "./sign-in.tsx";

export function Landing() {
  return (
    <div className="mx-auto w-full max-w-sm px-4 py-10">
      <h1 className="mb-6 text-2xl font-semibold tracking-tight">Agent Platform</h1>
      <SignIn />
    </div>
  );
}
