import type { TaskRun } from "@/lib/task-runs/task-run.ts";
import { useClock } from "../_hooks/use-clock.ts";
import { Badge } from "../_ui/badge.tsx";
import { ButtonLink } from "../_ui/button.tsx";
import { CopyableId } from "../_ui/copy-button.tsx";
import { Dialog } from "../_ui/dialog.tsx";
import { Fact, Facts } from "../_ui/facts.tsx";
import { formatDateTime, formatDuration } from "../_ui/format.ts";
import { Clapperboard } from "../_ui/icons.tsx";
import { MediaView } from "../_ui/media-view.tsx";
import { Section } from "../_ui/page-header.tsx";
import { ScrollBox } from "../_ui/scroll-box.tsx";
import { Loaded } from "../_ui/states.tsx";
import { isContentRun, mediaIn, stepOf } from "../content/content-result.ts";
import { runStates, TextBox } from "./_run/run-results.tsx";
import { nameOf, spanOf, stateOf, useTaskRun } from "./_state/task-run-state.ts";
import { RunStatus } from "./run-status.tsx";

/** The details of one run, polled while it is active. */
export function TaskRunPanel({ runId, onClose }: Readonly<{ runId: string; onClose: () => void }>) {
  const { run, error, reload } = useTaskRun(runId, "", 2_500);
  return (
    <Dialog
      isSheet
      title={run === undefined ? "Task run" : nameOf(run.taskIdentifier)}
      onClose={onClose}
    >
      <Loaded query={{ data: run, error, reload }} loading={runStates.loading}>
        {(loaded) => <Details run={loaded} />}
      </Loaded>
    </Dialog>
  );
}

function Details({ run }: { readonly run: TaskRun }) {
  const state = stateOf(run.status);
  const now = useClock(state.isActive);
  const span = spanOf(run, now);
  const media = mediaIn(run);
  const step = state.isActive ? stepOf(run) : null;
  return (
    <div className="flex flex-col gap-6">
      <div>
        <div className="mb-2 flex flex-wrap items-center gap-2 text-sm text-muted-foreground tabular-nums">
          <RunStatus state={state} />
          {step !== null && <span>{step}</span>}
          {span !== null && <span>{formatDuration(span)}</span>}
        </div>
        <CopyableId id={run.id} label="Copy ID" />
      </div>

      {media.length > 0 && (
        <div className="flex flex-col gap-3">
          <div className={media.length > 1 ? "grid grid-cols-2 gap-2" : ""}>
            {media.map((one) => (
              <MediaView key={one.url} media={one} label={nameOf(run.taskIdentifier)} />
            ))}
          </div>
          {isContentRun(run) && (
            <ButtonLink
              icon={Clapperboard}
              href={`/content?runId=${run.id}`}
              variant="outline"
              size="sm"
              className="self-start"
            >
              Open in Content
            </ButtonLink>
          )}
        </div>
      )}

      {run.error !== undefined && (
        <div role="alert" className="rounded-lg bg-danger-soft px-3.5 py-3">
          <p className="font-medium text-danger-text [overflow-wrap:anywhere]">
            {run.error.message ?? run.error.name ?? "The run failed."}
          </p>
          {run.error.stackTrace && (
            <ScrollBox label="Stack trace" className="mt-2 max-h-48">
              <pre className="font-mono text-xs text-danger-text">{run.error.stackTrace}</pre>
            </ScrollBox>
          )}
        </div>
      )}

      <Section title="Details">
        <Facts className="max-sm:text-sm sm:gap-x-6">
          <Fact name="Created">{dateTime(run.createdAt)}</Fact>
          <Fact name="Delayed until">{dateTime(run.delayedUntil)}</Fact>
          <Fact name="Started">{dateTime(run.startedAt)}</Fact>
          <Fact name="Finished">{dateTime(run.finishedAt)}</Fact>
          <Fact name="Expired">{dateTime(run.expiredAt)}</Fact>
          <Fact name="Updated">{dateTime(run.updatedAt)}</Fact>
          <Fact name="Cost">{cost(run)}</Fact>
          <Fact name="Version">{run.version}</Fact>
          <Fact name="Environment">{run.env?.name}</Fact>
          <Fact name="Triggered by">{run.triggerFunction}</Fact>
          <Fact name="Idempotency key">{run.idempotencyKey}</Fact>
          <Fact name="Batch">{run.batchId}</Fact>
        </Facts>
      </Section>

      {run.attempts !== undefined && run.attempts.length > 0 && (
        <Section title="Attempts">
          <ol className="divide-y rounded-lg border">
            {run.attempts.map((attempt, index) => (
              <li key={attempt.id} className="flex flex-col gap-1 px-3 py-2">
                <span className="flex items-center justify-between gap-2">
                  <span>
                    {index + 1}.{" "}
                    <span className="text-sm text-muted-foreground">
                      {dateTime(attempt.startedAt ?? attempt.createdAt)}
                    </span>
                  </span>
                  <RunStatus state={stateOf(attempt.status)} />
                </span>
                {attempt.error?.message !== undefined && (
                  <span className="text-sm text-danger-text [overflow-wrap:anywhere]">
                    {attempt.error.message}
                  </span>
                )}
              </li>
            ))}
          </ol>
        </Section>
      )}

      {run.tags.length > 0 && (
        <Section title="Tags">
          <ul className="flex flex-wrap gap-1">
            {run.tags.map((tag) => (
              <li key={tag} className="max-w-full truncate">
                <Badge>{tag}</Badge>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {Object.entries({
        ...{ Payload: run.payload, Output: run.output, Metadata: run.metadata },
        ...{ Schedule: run.schedule, "Related runs": run.relatedRuns },
      }).map(
        ([title, value]) =>
          value != null &&
          JSON.stringify(value) !== "{}" && (
            <Section key={title} title={title}>
              <TextBox name={title} text={JSON.stringify(value, null, 2)} />
            </Section>
          ),
      )}
    </div>
  );
}

const dateTime = (date: string | undefined): string | undefined =>
  date === undefined ? undefined : formatDateTime(date);

function cost({ costInCents = 0, baseCostInCents = 0 }: TaskRun): string | undefined {
  const cents = costInCents + baseCostInCents;
  return cents > 0 ? `${cents.toFixed(3)} ¢` : undefined;
}
