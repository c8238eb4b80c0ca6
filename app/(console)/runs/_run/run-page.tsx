"use client";
import { Code2, MessageSquare, RotateCcw, SearchX, Square } from "lucide-react";
import { useRouter } from "next/navigation";
import { type ReactNode, useState } from "react";
import type { RunTrace } from "@/lib/turns/run-contract.ts";
import { useArtist } from "../../_hooks/shared-reads.ts";
import { useClock } from "../../_hooks/use-clock.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { useSubmit } from "../../_hooks/use-submit.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { Button, ButtonLink } from "../../_ui/button.tsx";
import { CopyableId } from "../../_ui/copy-button.tsx";
import { formatCost, formatCount, formatDateTime, formatDuration } from "../../_ui/format.ts";
import { BackLink, DetailHeader, Page, Section } from "../../_ui/page-header.tsx";
import { ScrollBox } from "../../_ui/scroll-box.tsx";
import { Loaded, Loading, Missing, Skeleton } from "../../_ui/states.tsx";
import { toast } from "../../_ui/toast.tsx";
import { ArtistTag } from "../../artists/artist-tag.tsx";
import { RUN_KIND_LABELS, runDurationOf, runStateOf } from "../_state/run-state.ts";
import { RunStatus } from "../run-status.tsx";
import { RequiredAction, RunDeliveries, RunOutput, RunVerdicts } from "./run-results.tsx";
import { Timeline } from "./timeline.tsx";

const CodeDialog = lazyComponent(
  () => import("../../_snippets/code-dialog.tsx"),
  "StoredChatCodeDialog",
);
const StartRunDialog = lazyComponent(() => import("../start-run-dialog.tsx"), "StartRunDialog");

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
        loading={
          <Loading label="Loading run…" className="flex flex-col gap-5">
            <Skeleton className="h-8 w-72 max-w-full" />
            <Skeleton className="h-20 rounded-xl" />
            <Skeleton className="h-80 rounded-xl" />
          </Loading>
        }
        missing={
          <Missing
            icon={SearchX}
            title="Run not found"
            text="Its chat has been deleted, or it belongs to another account."
            href="/runs"
            link="All runs"
          />
        }
      >
        {(loaded) => <Details trace={loaded} now={now} onChange={reload} />}
      </Loaded>
    </Page>
  );
}

interface DetailsProps {
  readonly trace: RunTrace;
  readonly now: number;
  readonly onChange: () => void;
}

function Details({ trace, now, onChange }: DetailsProps) {
  const { run } = trace;
  const state = runStateOf(run);
  return (
    <>
      <DetailHeader
        title={run.title.trim() || "Untitled"}
        state={
          <span aria-live="polite">
            <RunStatus state={state} />
          </span>
        }
        about={<CopyableId id={run.runId} label="Copy run ID" />}
      >
        <Actions run={run} onChange={onChange} />
      </DetailHeader>
      {run.error !== null && (
        <div role="alert" className="mb-5 rounded-xl border bg-danger-soft px-4 py-3">
          <p className="font-medium text-danger-text">The run failed</p>
          <p className="mt-0.5 text-danger-text [overflow-wrap:anywhere]">{run.error}</p>
        </div>
      )}
      <RunFacts run={run} now={now} />
      {run.required_action !== null && <RequiredAction action={run.required_action} />}
      {run.prompt !== null && (
        <Section title="Prompt" className="mt-6">
          <ScrollBox
            label="Prompt text"
            className="max-h-40 rounded-xl border bg-surface px-4 py-3"
          >
            <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{run.prompt}</p>
          </ScrollBox>
        </Section>
      )}
      {run.output !== null && <RunOutput output={run.output} />}
      {run.verdicts.length > 0 && <RunVerdicts verdicts={run.verdicts} />}
      <RunDeliveries runId={run.runId} />
      <Timeline trace={trace} now={now} />
    </>
  );
}

interface ActionsProps {
  readonly run: RunTrace["run"];
  readonly onChange: () => void;
}

function Actions({ run, onChange }: ActionsProps) {
  const router = useRouter();
  const [isStarting, setIsStarting] = useState(false);
  const [isCodeOpen, setIsCodeOpen] = useState(false);
  const { send, busy } = useSubmit();
  const cancel = async () => {
    const result = await send(`/api/chat/runs/${run.runId}/cancel`);
    if (result.ok) onChange();
    else toast(result.error.message, "danger");
  };
  return (
    <>
      {run.finishedAt === null && (
        <Button icon={Square} variant="outline" busy={busy} onClick={() => void cancel()}>
          Cancel run
        </Button>
      )}
      {run.prompt !== null && (
        <Button icon={RotateCcw} variant="outline" onClick={() => setIsStarting(true)}>
          Run again
        </Button>
      )}
      <ButtonLink
        icon={MessageSquare}
        href={`/chat/${run.sessionId}/${run.chatId}`}
        variant="outline"
      >
        Open chat
      </ButtonLink>
      {run.prompt !== null && (
        <Button icon={Code2} variant="outline" onClick={() => setIsCodeOpen(true)}>
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
    </>
  );
}

function RunFacts({ run, now }: { readonly run: RunTrace["run"]; readonly now: number }) {
  const { usage } = run;
  const artist = useArtist(run.artist_id);
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 rounded-xl border bg-surface px-4 py-3.5 sm:grid-cols-3 lg:flex lg:flex-wrap lg:gap-x-10">
      <Fact name="Started">{formatDateTime(run.createdAt)}</Fact>
      <Fact name="Duration">{formatDuration(run.duration_ms ?? runDurationOf(run, now))}</Fact>
      <Fact name="Kind">{RUN_KIND_LABELS[run.kind]}</Fact>
      {artist !== undefined && (
        <Fact name="Artist">
          <ArtistTag artist={artist} />
        </Fact>
      )}
      <Fact name="Model">{run.model_id}</Fact>
      <Fact name="Tokens">
        {formatCount(usage.input_tokens)} in
        {usage.cached_input_tokens > 0 && ` (${formatCount(usage.cached_input_tokens)} cached)`} ·{" "}
        {formatCount(usage.output_tokens)} out
      </Fact>
      <Fact name="Cost">{formatCost(run)}</Fact>
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted-foreground">{name}</dt>
      <dd className="mt-0.5 tabular-nums wrap-anywhere sm:truncate">{children}</dd>
    </div>
  );
}
