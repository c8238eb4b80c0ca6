"use client";
import { Check } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { useSession } from "@/app/(console)/_session/auth.ts";
import { dismissChecklist } from "@/app/(console)/_shell/onboarding-choice.ts";
import { Button, buttonStyle } from "../_ui/button.tsx";
import { cn } from "../_ui/class-names.ts";
import { Page, PageHeader } from "../_ui/page-header.tsx";
import { type Step, steps } from "./steps.ts";
import { useFirstSteps } from "./use-first-steps.ts";

/** The checklist for a new account. */
export function Welcome() {
  const session = useSession();
  return session.status === "signed-in" ? <Checklist email={session.email} /> : null;
}

function Checklist({ email }: { readonly email: string }) {
  const state = useFirstSteps();
  const router = useRouter();
  const doneCount = state?.done.size ?? 0;
  const isComplete = doneCount === steps.length;
  const end = () => {
    dismissChecklist(email);
    router.push("/chat");
  };
  return (
    <Page>
      <PageHeader
        title={isComplete ? "You are all set" : "Get started"}
        description={
          isComplete
            ? "You have seen all of it once. What comes next is your own work."
            : "Five things to try, in any order. Each takes about a minute."
        }
      >
        <Button variant={isComplete ? "primary" : "outline"} onClick={end}>
          {isComplete ? "Go to chat" : "Dismiss checklist"}
        </Button>
      </PageHeader>
      <div className="mb-4 flex items-center gap-3">
        <progress
          aria-label="Steps done"
          value={doneCount}
          max={steps.length}
          className="h-1.5 flex-1 appearance-none overflow-hidden rounded-full bg-muted [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-muted [&::-webkit-progress-value]:rounded-full [&::-webkit-progress-value]:bg-accent"
        />
        <p className="text-sm text-muted-foreground tabular-nums">
          {doneCount} of {steps.length} done
        </p>
      </div>
      <ol className="overflow-hidden rounded-xl border bg-surface shadow-xs">
        {steps.map((step) => (
          <StepRow
            key={step.name}
            step={step}
            isDone={state?.done.has(step.name) === true}
            isNext={step === state?.next}
          />
        ))}
      </ol>
    </Page>
  );
}

function StepRow({
  step,
  isDone,
  isNext,
}: {
  readonly step: Step;
  readonly isDone: boolean;
  readonly isNext: boolean;
}) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b px-5 py-4 last:border-b-0">
      <span
        className={cn(
          "grid size-6 shrink-0 place-items-center rounded-full border",
          isDone && "border-transparent bg-success-soft text-success-text",
        )}
      >
        {isDone && <Check aria-hidden className="size-3.5" />}
      </span>
      <div className="min-w-48 flex-1">
        <h2 className={cn("font-medium", isDone && "text-muted-foreground line-through")}>
          {step.title}
          {isDone && <span className="sr-only"> (done)</span>}
        </h2>
        <p className="text-sm text-muted-foreground">{step.text}</p>
      </div>
      {!isDone && (
        <Link
          href={step.href}
          prefetch={false}
          className={buttonStyle({
            variant: isNext ? "primary" : "outline",
            size: "sm",
            // On a phone, below the text.
            className: "max-sm:ml-10",
          })}
        >
          {step.action}
        </Link>
      )}
    </li>
  );
}
