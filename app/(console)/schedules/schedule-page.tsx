"use client";
import { useParams, useRouter } from "next/navigation";
import { useState } from "react";
import type { getTaskContract } from "@/lib/tasks/contract.ts";
import type { Task } from "@/lib/tasks/task.ts";
import { type Answer, remove } from "../_api/request.ts";
import { useArtist } from "../_hooks/shared-reads.ts";
import { useClock } from "../_hooks/use-clock.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { useSubmit } from "../_hooks/use-submit.ts";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { Badge } from "../_ui/badge.tsx";
import { Button } from "../_ui/button.tsx";
import { ConfirmDialog } from "../_ui/dialog.tsx";
import { Fact, Facts } from "../_ui/facts.tsx";
import { formatUntil } from "../_ui/format.ts";
import { CalendarX, Pause, Pencil, Play, Trash2 } from "../_ui/icons.tsx";
import { BackLink, DetailHeader, Page, Section } from "../_ui/page-header.tsx";
import { ScrollBox } from "../_ui/scroll-box.tsx";
import { Loaded, Loading, Missing, Skeleton } from "../_ui/states.tsx";
import { toast } from "../_ui/toast.tsx";
import { ArtistTag } from "../artists/artist-tag.tsx";
import { describeCron } from "./_state/recurrence.ts";
import { FiringHistory } from "./firing-history.tsx";
import { RunNowButton } from "./run-now-button.tsx";
import { TriggerList } from "./trigger-list.tsx";

// The parser of cron expressions comes with these.
const ScheduleDialog = lazyComponent(
  () => import("./_editor/schedule-dialog.tsx"),
  "ScheduleDialog",
);
const TaskTemplateUpdate = lazyComponent(
  () => import("../templates/template-update.tsx"),
  "TaskTemplateUpdate",
);
const NextFiringsList = lazyComponent(
  () => import("./_editor/next-firings-list.tsx"),
  "NextFiringsList",
  <Skeleton className="h-28" />,
);

const POLL_MS = 30_000;

/** One scheduled prompt: its next run, its text, and the results of its runs. */
export function SchedulePage() {
  const { id } = useParams<{ id: string }>();
  const path = `/api/tasks/${encodeURIComponent(id)}`;
  const query = useQuery<Answer<typeof getTaskContract>>(path, POLL_MS);
  return (
    <Page>
      <BackLink href="/schedules">Schedules</BackLink>
      <Loaded
        query={query}
        loading={
          <Loading label="Loading schedule…" className="flex flex-col gap-5">
            <Skeleton className="h-8 w-72 max-w-full" />
            <Skeleton className="h-64 rounded-xl" />
          </Loading>
        }
        missing={
          <Missing
            icon={CalendarX}
            title="Schedule not found"
            text="It has been deleted, or it belongs to another account."
            href="/schedules"
            link="All schedules"
          />
        }
      >
        {({ task }) => <Details task={task} onChange={query.reload} />}
      </Loaded>
    </Page>
  );
}

function Details({ task, onChange }: { readonly task: Task; readonly onChange: () => void }) {
  const now = useClock(task.enabled);
  const artist = useArtist(task.artist_id);
  return (
    <>
      <DetailHeader
        title={task.title}
        state={
          <Badge tone={task.enabled ? "success" : "neutral"}>
            {task.enabled ? "Enabled" : "Paused"}
          </Badge>
        }
        about={
          <p className="mt-1 text-muted-foreground">
            {describeCron(task.schedule)} · {task.timezone.replaceAll("_", " ")}
            {task.next_run_at !== null && ` · next ${formatUntil(task.next_run_at, now)}`}
          </p>
        }
      >
        <Actions task={task} onChange={onChange} />
      </DetailHeader>
      {task.template_update && <TaskTemplateUpdate task={task} onChange={onChange} />}
      <div className="grid items-start gap-x-5 gap-y-6 lg:grid-cols-[minmax(0,1fr)_17rem] lg:grid-rows-[auto_1fr]">
        <div className="min-w-0">
          <Section title="Prompt">
            <ScrollBox
              label="Prompt text"
              className="max-h-56 rounded-xl border bg-surface px-4 py-3"
            >
              <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{task.prompt}</p>
            </ScrollBox>
          </Section>
        </div>
        <div className="flex flex-col gap-5 rounded-xl border bg-surface px-4 py-3.5 lg:row-span-2">
          <Section title="Next runs">
            {task.enabled ? (
              <NextFiringsList cron={task.schedule} timezone={task.timezone} />
            ) : (
              <p className="text-sm text-muted-foreground">None while the schedule is paused.</p>
            )}
          </Section>
          <Facts className="text-sm">
            <Fact name="Model">{task.model ?? "Default"}</Fact>
            {task.artist_id !== null && (
              <Fact name="Artist">{artist ? <ArtistTag artist={artist} /> : "…"}</Fact>
            )}
            <Fact name="Cron">
              <code className="font-mono text-xs">{task.schedule}</code>
            </Fact>
          </Facts>
        </div>
        <div className="min-w-0">
          <FiringHistory taskId={task.id} />
          <TriggerList taskId={task.id} />
        </div>
      </div>
    </>
  );
}

function Actions({ task, onChange }: { readonly task: Task; readonly onChange: () => void }) {
  const router = useRouter();
  const [isEditing, setEditing] = useState(false);
  const { send, busy } = useSubmit();
  const toggle = async () => {
    const body = { enabled: !task.enabled };
    const result = await send(`/api/tasks/${task.id}`, { method: "PATCH", body });
    if (result.ok) onChange();
    else toast(result.error.message, "danger");
  };
  return (
    <>
      <RunNowButton id={task.id} title={task.title} />
      <Button icon={Pencil} variant="outline" onClick={() => setEditing(true)}>
        Edit
      </Button>
      <Button
        icon={task.enabled ? Pause : Play}
        variant="outline"
        busy={busy}
        onClick={() => void toggle()}
      >
        {task.enabled ? "Pause" : "Resume"}
      </Button>
      <ConfirmDialog
        title="Delete schedule?"
        description={`“${task.title}” will not run again. Runs that have started go on, and their chats stay.`}
        confirm="Delete schedule"
        onConfirm={() => remove(`/api/tasks/${task.id}`)}
        onDone={() => router.push("/schedules")}
        button={{ icon: Trash2, children: "Delete" }}
      />
      {isEditing && (
        <ScheduleDialog
          task={task}
          timezone={task.timezone}
          onClose={() => setEditing(false)}
          onSaved={() => {
            setEditing(false);
            onChange();
          }}
        />
      )}
    </>
  );
}
