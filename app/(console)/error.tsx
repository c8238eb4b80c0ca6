"use client";
import { Button } from "./_ui/button.tsx";

export default function ErrorPage({ reset }: { readonly reset: () => void }) {
  return (
    <div
      role="alert"
      className="mx-auto flex max-w-md flex-col items-center px-4 py-24 text-center"
    >
      <h1 className="text-xl font-semibold tracking-tight">Something went wrong here</h1>
      <p className="mt-1 text-muted-foreground">
        Nothing was lost. Try again, or load the page anew.
      </p>
      <Button variant="outline" className="mt-5" onClick={reset}>
        Try again
      </Button>
    </div>
  );
}
