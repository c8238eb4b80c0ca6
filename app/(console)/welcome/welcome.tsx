"use client";
import { Check } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { useSession } from "@/app/(console)/_session/auth.ts";
import { remember } from "@/app/(console)/_shell/onboarding-choice.ts";
import { Button, buttonStyle } from "../_ui/button.tsx";
import { cn } from "../_ui/class-names.ts";
import { Page, PageHeader } from "../_ui/page-header.tsx";
import { type Step, useOnboarding } from "./use-onboarding.ts";

/** The checklist for a new account. */
export function Welcome() {
  const session = useSession();
  return session.status === "signed-in" ? <Checklist email={session.email} /> : null;
}

function Checklist({ email }: { readonly email: string }) {
  const steps = useOnboarding(email);
  const router = useRouter();
  const done = steps.filter(({ isDone }) => isDone === true).length;
  const end = () => {
    remember(email, "dismissed");
    router.push("/chat");
  };
  return (
    <Page className="max-w-3xl">
      <PageHeader
        title="Get started"
        description="A few minutes to see what the agent does for you."
      >
        <Button variant="outline" onClick={end}>
          {done === steps.length ? "Finish" : "Dismiss checklist"}
        </Button>
      </PageHeader>
      <div className="mb-4 flex items-center gap-3">
        <progress
          aria-label="Steps done"
          value={done}
          max={steps.length}
          className="h-1.5 flex-1 appearance-none overflow-hidden rounded-full bg-muted [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-muted [&::-webkit-progress-value]:rounded-full [&::-webkit-progress-value]:bg-accent"
        />
        <p className="text-sm text-muted-foreground tabular-nums">
          {done} of {steps.length} done
        </p>
      </div>
      <ol className="overflow-hidden rounded-xl border bg-surface shadow-xs">
        {steps.map((step) => (
          <StepRow
            key={step.title}
            step={step}
            onFollow={() => step.remembers && remember(email, step.remembers)}
          />
        ))}
      </ol>
    </Page>
  );
}

function StepRow({ step, onFollow }: { readonly step: Step; readonly onFollow: () => void }) {
  const isDone = step.isDone === true;
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
          onClick={onFollow}
          className={buttonStyle({ variant: "outline", size: "sm" })}
        >
          {step.action}
        </Link>
      )}
    </li>
  );
}
