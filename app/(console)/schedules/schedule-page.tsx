"use client";
import { CalendarX, Pause, Pencil, Play, Trash2 } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { type ReactNode, useState } from "react";
import type { z } from "zod";
import { api } from "@/app/(console)/_api/request.ts";
import { useArtist } from "@/app/(console)/_hooks/shared-reads.ts";
import { useClock } from "@/app/(console)/_hooks/use-clock.ts";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import { formatUntil } from "@/app/(console)/_ui/format-time.ts";
import { describeCron } from "@/app/(console)/schedules/_state/recurrence.ts";
import type { getTaskContract } from "@/lib/schedules/contract.ts";
import type { Task } from "@/lib/schedules/task.ts";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { BackLink } from "../_ui/back-link.tsx";
import { Badge } from "../_ui/badge.tsx";
import { Button, buttonStyle } from "../_ui/button.tsx";
import { ConfirmDialog } from "../_ui/confirm-dialog.tsx";
import { EmptyState } from "../_ui/empty-state.tsx";
import { Fact, Facts } from "../_ui/facts.tsx";
import { Loaded } from "../_ui/loaded.tsx";
import { Page } from "../_ui/page-header.tsx";
import { ScrollBox } from "../_ui/scroll-box.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { toast } from "../_ui/toast.tsx";
import { ArtistTag } from "../artists/artist-tag.tsx";
import { FiringHistory } from "./firing-history.tsx";
import { RunNowButton } from "./run-now-button.tsx";

type Found = z.output<(typeof getTaskContract)["responses"][200]["schema"]>;

// The parser of cron expressions comes with these.
const ScheduleDialog = lazyComponent(() =>
  import("./_editor/schedule-dialog.tsx").then((module) => module.ScheduleDialog),
);
const NextFiringsList = lazyComponent(
  () => import("./_editor/next-firings-list.tsx").then((module) => module.NextFiringsList),
  <Skeleton className="h-28" />,
);

const POLL_MS = 30_000;

/** One scheduled prompt: when it runs next, what it says, and how its runs have ended. */
export function SchedulePage({ id }: { readonly id: string }) {
  const path = `/api/tasks/${encodeURIComponent(id)}`;
  const query = useQuery<Found>(path, POLL_MS);
  return (
    <Page>
      <BackLink href="/schedules">Schedules</BackLink>
      <Loaded
        query={query}
        loading={
          <div className="flex flex-col gap-5">
            <p className="sr-only">Loading schedule…</p>
            <Skeleton className="h-8 w-72 max-w-full" />
            <Skeleton className="h-64 rounded-xl" />
          </div>
        }
        missing={
          <EmptyState
            icon={CalendarX}
            isWholePage
            title="Schedule not found"
            text="It has been deleted, or it belongs to another account."
          >
            <Link href="/schedules" className={buttonStyle({ variant: "outline" })}>
              All schedules
            </Link>
          </EmptyState>
        }
      >
        {({ task }) => <Details task={task} onChange={query.reload} />}
      </Loaded>
    </Page>
  );
}

function Details({ task, onChange }: { readonly task: Task; readonly onChange: () => void }) {
  const now = useClock(task.enabled);
  return (
    <>
      <header className="mb-5 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
            <h1 className="line-clamp-2 text-xl font-semibold tracking-tight [overflow-wrap:anywhere]">
              {task.title}
            </h1>
            <Badge tone={task.enabled ? "success" : "neutral"}>
              {task.enabled ? "Enabled" : "Paused"}
            </Badge>
          </div>
          <p className="mt-1 text-muted-foreground">
            {describeCron(task.schedule)} · {task.timezone.replaceAll("_", " ")}
            {task.next_run_at !== null && ` · next ${formatUntil(task.next_run_at, now)}`}
          </p>
        </div>
        <Actions task={task} onChange={onChange} />
      </header>
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
          <Choices task={task} />
        </div>
        <div className="min-w-0">
          <FiringHistory taskId={task.id} />
        </div>
      </div>
    </>
  );
}

function Actions({ task, onChange }: { readonly task: Task; readonly onChange: () => void }) {
  const router = useRouter();
  const [isEditing, setIsEditing] = useState(false);
  const [isSwitching, setIsSwitching] = useState(false);
  const toggle = async () => {
    setIsSwitching(true);
    const body = { enabled: !task.enabled };
    const result = await api(`/api/tasks/${task.id}`, { method: "PATCH", body });
    setIsSwitching(false);
    if (result.ok) onChange();
    else toast(result.error.message, "danger");
  };
  const remove = async () => {
    const result = await api(`/api/tasks/${task.id}`, { method: "DELETE" });
    if (!result.ok && result.error.status !== 404) return result.error.message;
    router.push("/schedules");
    return null;
  };
  return (
    <div className="flex flex-wrap gap-2">
      <RunNowButton id={task.id} title={task.title} />
      <Button variant="outline" onClick={() => setIsEditing(true)}>
        <Pencil aria-hidden />
        Edit
      </Button>
      <Button variant="outline" busy={isSwitching} onClick={() => void toggle()}>
        {task.enabled ? <Pause aria-hidden /> : <Play aria-hidden />}
        {task.enabled ? "Pause" : "Resume"}
      </Button>
      <ConfirmDialog
        title="Delete schedule?"
        description={`“${task.title}” will not run again. Runs that have started go on, and their chats stay.`}
        confirm="Delete schedule"
        onConfirm={remove}
        trigger={
          <Button variant="danger-ghost">
            <Trash2 aria-hidden />
            Delete
          </Button>
        }
      />
      {isEditing && (
        <ScheduleDialog
          task={task}
          timezone={task.timezone}
          onClose={() => setIsEditing(false)}
          onSaved={() => {
            setIsEditing(false);
            onChange();
          }}
        />
      )}
    </div>
  );
}

/** What the schedule works with, unless that is the default. */
function Choices({ task }: { readonly task: Task }) {
  const artist = useArtist(task.artist_id);
  return (
    <Facts className="text-sm">
      <Fact name="Model">{task.model ?? "Default"}</Fact>
      {task.artist_id !== null && (
        <Fact name="Artist">{artist === undefined ? "…" : <ArtistTag artist={artist} />}</Fact>
      )}
      <Fact name="Cron">
        <code className="font-mono text-xs">{task.schedule}</code>
      </Fact>
    </Facts>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2 className="mb-2 text-sm font-medium text-muted-foreground">{title}</h2>
      {children}
    </section>
  );
}
