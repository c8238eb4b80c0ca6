"use client";
import { Code2, MessageSquare, RotateCcw, SearchX, Square } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { api } from "@/app/(console)/_api/request.ts";
import { useClock } from "@/app/(console)/_hooks/use-clock.ts";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import { runStateOf } from "@/app/(console)/runs/_state/run-state.ts";
import type { RunTrace } from "@/lib/turns/run-contract.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { BackLink } from "../../_ui/back-link.tsx";
import { Button, buttonStyle } from "../../_ui/button.tsx";
import { CopyableId } from "../../_ui/copyable-id.tsx";
import { EmptyState } from "../../_ui/empty-state.tsx";
import { Loaded } from "../../_ui/loaded.tsx";
import { Page } from "../../_ui/page-header.tsx";
import { ScrollBox } from "../../_ui/scroll-box.tsx";
import { Skeleton } from "../../_ui/skeleton.tsx";
import { toast } from "../../_ui/toast.tsx";
import { RunStatus } from "../run-status.tsx";
import { RunFacts } from "./run-facts.tsx";
import { Timeline } from "./timeline.tsx";

const CodeDialog = lazyComponent(() =>
  import("../../_snippets/code-dialog.tsx").then((module) => module.StoredChatCodeDialog),
);
const StartRunDialog = lazyComponent(() =>
  import("../start-run-dialog.tsx").then((module) => module.StartRunDialog),
);

const POLL_MS = 1_500;

/** One run with the timeline of its model calls and tools, kept up to date until it ends. */
export function RunPage({ runId }: { readonly runId: string }) {
  const path = `/api/chat/runs/${encodeURIComponent(runId)}/steps`;
  const query = useQuery<RunTrace>(path, (trace) => trace?.run.finishedAt === null && POLL_MS);
  const { data, reload } = query;
  const now = useClock(data?.run.finishedAt === null);
  return (
    <Page>
      <BackLink href="/runs">Runs</BackLink>
      <Loaded
        query={query}
        loading={<RunSkeleton />}
        missing={
          <EmptyState
            icon={SearchX}
            isWholePage
            title="Run not found"
            text="Its chat has been deleted, or it belongs to another account."
          >
            <Link href="/runs" className={buttonStyle({ variant: "outline" })}>
              All runs
            </Link>
          </EmptyState>
        }
      >
        {(loaded) => <Details trace={loaded} now={now} onChange={reload} />}
      </Loaded>
    </Page>
  );
}

function Details({
  trace,
  now,
  onChange,
}: {
  readonly trace: RunTrace;
  readonly now: number;
  readonly onChange: () => void;
}) {
  const { run } = trace;
  const state = runStateOf(run);
  return (
    <>
      <header className="mb-5 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
            <h1 className="line-clamp-2 text-xl font-semibold tracking-tight [overflow-wrap:anywhere]">
              {run.title.trim() || "Untitled"}
            </h1>
            <span aria-live="polite">
              <RunStatus state={state} />
            </span>
          </div>
          <CopyableId id={run.runId} label="Copy run ID" />
        </div>
        <Actions run={run} onChange={onChange} />
      </header>
      {run.error !== null && (
        <div role="alert" className="mb-5 rounded-xl border bg-danger-soft px-4 py-3">
          <p className="font-medium text-danger-text">The run failed</p>
          <p className="mt-0.5 text-danger-text [overflow-wrap:anywhere]">{run.error}</p>
        </div>
      )}
      <RunFacts run={run} now={now} />
      {run.prompt !== null && (
        <section aria-label="Prompt" className="mt-6">
          <h2 className="mb-2 text-sm font-medium text-muted-foreground">Prompt</h2>
          <ScrollBox
            label="Prompt text"
            className="max-h-40 rounded-xl border bg-surface px-4 py-3"
          >
            <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{run.prompt}</p>
          </ScrollBox>
        </section>
      )}
      <Timeline trace={trace} now={now} />
    </>
  );
}

function Actions({
  run,
  onChange,
}: {
  readonly run: RunTrace["run"];
  readonly onChange: () => void;
}) {
  const router = useRouter();
  const [isCancelling, setIsCancelling] = useState(false);
  const [isStarting, setIsStarting] = useState(false);
  const [isCodeOpen, setIsCodeOpen] = useState(false);
  const cancel = async () => {
    setIsCancelling(true);
    const result = await api(`/api/chat/runs/${run.runId}/cancel`, { method: "POST" });
    setIsCancelling(false);
    if (result.ok) onChange();
    else toast(result.error.message, "danger");
  };
  return (
    <div className="flex flex-wrap gap-2">
      {run.finishedAt === null && (
        <Button variant="outline" busy={isCancelling} onClick={() => void cancel()}>
          <Square aria-hidden />
          Cancel run
        </Button>
      )}
      {run.prompt !== null && (
        <Button variant="outline" onClick={() => setIsStarting(true)}>
          <RotateCcw aria-hidden />
          Run again
        </Button>
      )}
      <Link
        href={`/chat/${run.sessionId}/${run.chatId}`}
        prefetch={false}
        className={buttonStyle({ variant: "outline" })}
      >
        <MessageSquare aria-hidden />
        Open chat
      </Link>
      {run.prompt !== null && (
        <Button variant="outline" onClick={() => setIsCodeOpen(true)}>
          <Code2 aria-hidden />
          View as code
        </Button>
      )}
      {isCodeOpen && (
        <CodeDialog
          chat={{ sessionId: run.sessionId, chatId: run.chatId }}
          description="Starts a run like this one, and waits for its end."
          scenario={{
            kind: "run",
            prompt: run.prompt ?? "",
            setup: { modelId: run.model_id, instructions: null, templateId: null, connectors: [] },
          }}
          onClose={() => setIsCodeOpen(false)}
        />
      )}
      {isStarting && (
        <StartRunDialog
          from={run}
          onClose={() => setIsStarting(false)}
          onStarted={(runId) => router.push(`/runs/${runId}`)}
        />
      )}
    </div>
  );
}

function RunSkeleton() {
  return (
    <div className="flex flex-col gap-5">
      <p className="sr-only">Loading run…</p>
      <Skeleton className="h-8 w-72 max-w-full" />
      <Skeleton className="h-20 rounded-xl" />
      <Skeleton className="h-80 rounded-xl" />
    </div>
  );
}
