"use client";
import { Check } from "lucide-react";
import Link from "next/link";
import { steps } from "./steps.ts";
import { useFirstSteps } from "./use-first-steps.ts";

/** The checklist in one line, until all of it is done: how far it is, and the next step. */
export function NextStep() {
  const state = useFirstSteps();
  if (state?.next === undefined) return null;
  return (
    <section
      aria-label="Get started"
      className="mx-auto flex w-fit max-w-full flex-wrap items-center justify-center gap-x-3 gap-y-1 rounded-xl border bg-surface px-4 py-2 text-sm shadow-xs"
    >
      <Link
        href="/welcome"
        prefetch={false}
        className="flex items-center gap-1.5 font-medium hover:underline"
      >
        <Check aria-hidden className="size-4 text-accent-text" />
        Get started: {state.done.size} of {steps.length} done
      </Link>
      <span className="text-muted-foreground">
        Next:{" "}
        <Link
          href={state.next.href}
          prefetch={false}
          className="font-medium text-accent-text underline-offset-4 hover:underline"
        >
          {state.next.title}
        </Link>
      </span>
    </section>
  );
}
