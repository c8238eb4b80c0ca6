"use client";
import { useRouter } from "next/navigation";
import { startTransition, useOptimistic } from "react";
import type { Artist } from "@/lib/artists/artist.ts";
import type { Task } from "@/lib/tasks/task.ts";
import { api } from "../_api/request.ts";
import { useAccount, useArtists } from "../_hooks/shared-reads.ts";
import { useClock } from "../_hooks/use-clock.ts";
import { useOpenedByLink } from "../_hooks/use-opened-by-link.ts";
import { usePages } from "../_hooks/use-pages.ts";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { Button } from "../_ui/button.tsx";
import { Switch } from "../_ui/form.tsx";
import { formatUntil } from "../_ui/format.ts";
import { CalendarClock, Plus } from "../_ui/icons.tsx";
import { Link } from "../_ui/link.tsx";
import { Page } from "../_ui/page-header.tsx";
import { RelativeTime } from "../_ui/relative-time.tsx";
import { EmptyState, PagedList } from "../_ui/states.tsx";
import { toast } from "../_ui/toast.tsx";
import { ArtistTag } from "../artists/artist-tag.tsx";
import { stateOf } from "../runs/_state/task-run-state.ts";
import { RunStatus } from "../runs/run-status.tsx";
import { describeCron } from "./_state/recurrence.ts";
import { RunNowButton } from "./run-now-button.tsx";

const ScheduleDialog = lazyComponent(
  () => import("./_editor/schedule-dialog.tsx"),
  "ScheduleDialog",
);
const ACTIVE_POLL_MS = 2_500;
const IDLE_POLL_MS = 30_000;

export function SchedulesPage() {
  const router = useRouter();
  const timezone = useTimeZone();
  const [isCreating, setIsCreating] = useOpenedByLink();
  const tasks = usePages<Task>("/api/tasks", "tasks", (loaded) =>
    loaded.some(({ last_run }) => last_run && stateOf(last_run.status).isActive)
      ? ACTIVE_POLL_MS
      : IDLE_POLL_MS,
  );
  const { items, refresh } = tasks;
  const artists = useArtists(items?.some(({ artist_id }) => artist_id !== null));
  const create = (
    <Button icon={Plus} onClick={() => setIsCreating(true)}>
      New schedule
    </Button>
  );
  return (
    <Page
      title="Schedules"
      description="Prompts that run by themselves: chart watches, weekly reports, release reminders."
      actions={items !== undefined && items.length > 0 && create}
    >
      <PagedList
        label="Schedules"
        pages={tasks}
        empty={
          <EmptyState
            icon={CalendarClock}
            title="No schedules yet"
            text="Have the agent check the charts every morning, sum up the week's streams on Fridays, or remind you of royalty deadlines."
          >
            {create}
          </EmptyState>
        }
        keyOf={({ id }) => id}
      >
        {(task) => (
          <Row
            task={task}
            artist={artists.find(({ account_id }) => account_id === task.artist_id)}
            onChange={refresh}
          />
        )}
      </PagedList>
      {isCreating && timezone !== undefined && (
        <ScheduleDialog
          timezone={timezone}
          onClose={() => setIsCreating(false)}
          onSaved={({ id }) => router.push(`/schedules/${id}`)}
        />
      )}
    </Page>
  );
}

interface RowProps {
  readonly task: Task;
  /** Undefined for a schedule without one, and until it is loaded. */
  readonly artist: Artist | undefined;
  readonly onChange: () => Promise<unknown>;
}

function Row({ task, artist, onChange }: RowProps) {
  const now = useClock(false);
  const { last_run: lastRun } = task;
  const [isEnabled, show] = useOptimistic(task.enabled);
  const toggle = async (enabled: boolean) => {
    show(enabled);
    const result = await api(`/api/tasks/${task.id}`, { method: "PATCH", body: { enabled } });
    if (result.ok) await onChange();
    else toast(result.error.message, "danger");
  };
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2.5 px-4 py-3">
      <div className="min-w-0 flex-1 basis-64">
        <Link href={`/schedules/${task.id}`} className="line-clamp-1 font-medium hover:underline">
          {task.title}
        </Link>
        <p className="mt-0.5 flex min-w-0 flex-wrap items-center gap-x-3 text-sm text-muted-foreground">
          <span className="truncate">
            {describeCron(task.schedule)} · {task.timezone.replaceAll("_", " ")}
          </span>
          {artist !== undefined && <ArtistTag artist={artist} />}
        </p>
      </div>
      <div className="flex basis-48 flex-col items-start gap-0.5 text-sm whitespace-nowrap text-muted-foreground max-sm:basis-full max-sm:flex-row max-sm:flex-wrap max-sm:items-center max-sm:gap-x-3">
        {lastRun === null ? (
          <span>Never run</span>
        ) : (
          <span className="flex items-center gap-2">
            <RunStatus state={stateOf(lastRun.status)} />
            <RelativeTime date={lastRun.created_at} />
          </span>
        )}
        <span>
          {task.next_run_at === null ? "Paused" : `Next ${formatUntil(task.next_run_at, now)}`}
        </span>
      </div>
      <div className="flex items-center justify-between gap-3 max-sm:w-full">
        <RunNowButton id={task.id} title={task.title} />
        <Switch
          label={`Enable ${task.title}`}
          hideLabel
          checked={isEnabled}
          onChange={(enabled) => startTransition(() => toggle(enabled))}
        />
      </div>
    </div>
  );
}

/** Returns the time zone of the account, else the browser's; undefined while the account loads. */
function useTimeZone(): string | undefined {
  const { data, error } = useAccount();
  if (data === undefined && error === null) return undefined;
  return data?.account.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}
