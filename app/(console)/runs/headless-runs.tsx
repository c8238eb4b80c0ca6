"use client";
import { Bot, MessageSquare, Plus, Square, X } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import { api } from "@/app/(console)/_api/request.ts";
import { useClock } from "@/app/(console)/_hooks/use-clock.ts";
import { usePoll } from "@/app/(console)/_hooks/use-poll.ts";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import { useSession } from "@/app/(console)/_session/auth.ts";
import { formatDuration } from "@/app/(console)/_ui/format-time.ts";
import {
  forgetRun,
  type StartedRun,
  useStartedRuns,
} from "@/app/(console)/runs/_state/started-runs.ts";
import type { RunState, RunTone } from "@/app/(console)/runs/_state/task-run-state.ts";
import type { Run } from "@/lib/turns/contract.ts";
import { Button, buttonStyle } from "../_ui/button.tsx";
import { EmptyState } from "../_ui/empty-state.tsx";
import { RelativeTime } from "../_ui/relative-time.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { toast } from "../_ui/toast.tsx";
import { RunBadge } from "./run-badge.tsx";

const states = {
  queued: ["Queued", "neutral"],
  running: ["Running", "accent"],
  completed: ["Completed", "success"],
  failed: ["Failed", "danger"],
  cancelled: ["Cancelled", "neutral"],
} as const satisfies Record<Run["status"], readonly [string, RunTone]>;

function stateOf({ status, finishedAt }: Run): RunState {
  const [label, tone] = states[status];
  return { label, tone, isActive: finishedAt === null };
}

/** The agent runs that were started in this browser, each polled until it ends. */
export function HeadlessRuns({ onStart }: { readonly onStart: () => void }) {
  const session = useSession();
  const email = session.status === "signed-in" ? session.email : "";
  const runs = useStartedRuns(email);
  if (runs.length === 0) {
    return (
      <EmptyState
        icon={Bot}
        title="No agent runs yet"
        text="Give the agent a task and come back later. It works in its own session and sandbox, and you can open its chat at any time."
      >
        <Button onClick={onStart}>
          <Plus aria-hidden />
          Start agent run
        </Button>
      </EmptyState>
    );
  }
  return (
    <>
      <ul className="divide-y overflow-hidden rounded-xl border bg-surface">
        {runs.map((started) => (
          <li key={started.runId}>
            <Row started={started} onForget={() => forgetRun(email, started.runId)} />
          </li>
        ))}
      </ul>
      <p className="mt-3 text-sm text-muted-foreground">
        This list shows runs started in this browser. For a run started through the API, call{" "}
        <code className="font-mono text-xs">GET /api/chat/runs/{"{runId}"}</code>.
      </p>
    </>
  );
}

function Row({
  started,
  onForget,
}: {
  readonly started: StartedRun;
  readonly onForget: () => void;
}) {
  const { runId, chatId, sessionId, prompt, createdAt } = started;
  const { data: run, error, loading, reload } = useQuery<Run>(`/api/chat/runs/${runId}`);
  const state = run && stateOf(run);
  usePoll(reload, state?.isActive === true && !loading, 1_500);
  const now = useClock(state?.isActive === true);
  const [isStopping, setIsStopping] = useState(false);
  const stop = async () => {
    setIsStopping(true);
    const result = await api(`/api/chat/${chatId}/stop`, { method: "POST" });
    setIsStopping(false);
    if (result.ok) reload();
    else toast(result.error.message, "danger");
  };
  const isGone = run === undefined && error?.status === 404;
  const errorText = run?.error ?? (run === undefined && !isGone ? error?.message : undefined);
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0 flex-1 basis-60">
        <p className="line-clamp-2 [overflow-wrap:anywhere]">{prompt}</p>
        <p className="mt-0.5 text-sm text-muted-foreground tabular-nums">
          <RelativeTime date={createdAt} />
          {run && ` · ${formatDuration(spanOf(run, now))}`}
        </p>
        {errorText && (
          <p className="mt-0.5 text-sm text-danger-text [overflow-wrap:anywhere]">{errorText}</p>
        )}
      </div>
      <div className="flex items-center gap-2" aria-live="polite">
        {state && <RunBadge state={state} />}
        {!state && !error && <Skeleton className="h-5 w-20 rounded-full" />}
        {isGone && <span className="text-sm text-muted-foreground">Chat deleted</span>}
      </div>
      <div className="flex items-center gap-1">
        {state?.isActive && (
          <Button variant="outline" size="sm" busy={isStopping} onClick={() => void stop()}>
            <Square aria-hidden />
            Stop
          </Button>
        )}
        {run && (
          <Link
            href={`/chat/${sessionId}/${chatId}`}
            prefetch={false}
            className={buttonStyle({ variant: "outline", size: "sm" })}
          >
            <MessageSquare aria-hidden />
            Open chat
          </Link>
        )}
        {error && run === undefined && !isGone && (
          <Button variant="outline" size="sm" onClick={reload}>
            Retry
          </Button>
        )}
        {!state?.isActive && (
          <Button
            variant="ghost"
            size="icon"
            aria-label="Remove from this list"
            title="Remove from this list"
            onClick={onForget}
          >
            <X aria-hidden />
          </Button>
        )}
      </div>
    </div>
  );
}

const spanOf = ({ createdAt, finishedAt }: Run, now: number): number =>
  Math.max(0, (finishedAt === null ? now : Date.parse(finishedAt)) - Date.parse(createdAt));
