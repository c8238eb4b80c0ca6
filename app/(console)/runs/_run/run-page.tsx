"use client";
import { useRouter } from "next/navigation";
import { useState } from "react";
import type { RunTrace } from "@/lib/turns/run-contract.ts";
import { useClock } from "../../_hooks/use-clock.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { useSubmit } from "../../_hooks/use-submit.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import { Button, ButtonLink } from "../../_ui/button.tsx";
import { CopyableId } from "../../_ui/copy-button.tsx";
import { Code2, GitCompare, MessageSquare, RotateCcw, Square } from "../../_ui/icons.tsx";
import { BackLink, DetailHeader, Page, Section } from "../../_ui/page-header.tsx";
import { Loaded } from "../../_ui/states.tsx";
import { toast } from "../../_ui/toast.tsx";
import { pageOf } from "../../chat/_list/row-target.ts";
import { runStateOf } from "../_state/run-state.ts";
import { RunStatus } from "../run-status.tsx";
import {
  Json,
  RequiredAction,
  RunDeliveries,
  RunFacts,
  RunVerdicts,
  runStates,
  TextBox,
} from "./run-results.tsx";
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
  return (
    <Page>
      <BackLink href="/runs">Runs</BackLink>
      <Loaded query={query} {...runStates}>
        {(trace) => <Details trace={trace} onChange={query.reload} />}
      </Loaded>
    </Page>
  );
}

type DetailsProps = Readonly<{ trace: RunTrace; onChange: () => void }>;

function Details({ trace, onChange }: DetailsProps) {
  const { run } = trace;
  const now = useClock(run.finishedAt === null);
  return (
    <>
      <DetailHeader
        title={run.title.trim() || "Untitled"}
        state={
          <span aria-live="polite">
            <RunStatus state={runStateOf(run)} />
          </span>
        }
        about={<CopyableId id={run.runId} label="Copy run ID" />}
      >
        <Actions {...{ trace, onChange }} />
      </DetailHeader>
      {run.error !== null && (
        <div role="alert" className="mb-5 rounded-xl border bg-danger-soft px-4 py-3">
          <p className="font-medium text-danger-text">The run failed</p>
          <p className="mt-0.5 text-danger-text [overflow-wrap:anywhere]">{run.error}</p>
        </div>
      )}
      <RunFacts run={run} now={now} />
      {run.required_action !== null && <RequiredAction {...run.required_action} />}
      {run.prompt !== null && (
        <Section title="Prompt" className="mt-6">
          <TextBox text={run.prompt} name="Prompt text" isLandmark />
        </Section>
      )}
      {run.output !== null && (
        <Section title="Output" className="mt-6">
          <Json value={run.output} name="Output" />
        </Section>
      )}
      {run.verdicts.length > 0 && <RunVerdicts verdicts={run.verdicts} />}
      <RunDeliveries runId={run.runId} />
      <Timeline trace={trace} now={now} />
    </>
  );
}

function Actions({ trace: { run }, onChange }: DetailsProps) {
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
        icon={GitCompare}
        href={`/runs?compare=${run.runId}${{ chat: `&chat=${run.chatId}`, headless: "", task: "&kind=task" }[run.kind]}`}
        variant="outline"
      >
        Compare
      </ButtonLink>
      <ButtonLink icon={MessageSquare} href={pageOf(run)} variant="outline">
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
