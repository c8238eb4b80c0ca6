"use client";
import { useEffect } from "react";
import { checkChunk } from "./_load/load-module.ts";
import { Button } from "./_ui/button.tsx";

export default function ErrorPage({ error, reset }: Readonly<{ error: Error; reset: () => void }>) {
  // Code of the page itself can be gone, too.
  useEffect(() => void checkChunk(error), [error]);
  return (
    <div
      role="alert"
      className="mx-auto flex max-w-md flex-col items-center px-4 py-24 text-center"
    >
      <h1 className="text-xl font-semibold tracking-tight">Something went wrong</h1>
      <p className="mt-1 text-muted-foreground">Your data is safe. Retry, or reload the page.</p>
      <Button variant="outline" className="mt-5" onClick={reset}>
        Retry
      </Button>
    </div>
  );
}
