import { Trash2, Webhook } from "lucide-react";
import Link from "next/link";
import { useState } from "react";
import type { Trigger, TriggerEvent } from "@/lib/triggers/contract.ts";
import { remove } from "../_api/request.ts";
import { usePages } from "../_hooks/use-pages.ts";
import { Button } from "../_ui/button.tsx";
import { CopyableId } from "../_ui/copy-button.tsx";
import { ConfirmDialog } from "../_ui/dialog.tsx";
import { formatDateTime } from "../_ui/format.ts";
import { Section } from "../_ui/page-header.tsx";
import { EmptyState, PagedList } from "../_ui/states.tsx";
import { type CreatedWebhook, CreateTrigger, NewTrigger, titleOf } from "./trigger-dialogs.tsx";

const POLL_MS = 15_000;

/** What starts runs of a schedule besides its times, and the events that have arrived. */
export function TriggerList({ taskId }: { readonly taskId: string }) {
  const path = `/api/tasks/${taskId}/triggers`;
  const triggers = usePages<Trigger>(path, "triggers");
  const [isCreating, setIsCreating] = useState(false);
  const [created, setCreated] = useState<CreatedWebhook | null>(null);
  const create = (
    <Button variant="outline" size="sm" onClick={() => setIsCreating(true)}>
      Create trigger
    </Button>
  );
  return (
    <Section title="Triggers" className="mt-6">
      <PagedList
        label="Triggers"
        pages={triggers}
        loadingRows={1}
        more="triggers"
        empty={
          <EmptyState
            icon={Webhook}
            title="No triggers yet"
            text="An event starts a run: one of a service that you have connected, or one that is sent to a URL."
          >
            {create}
          </EmptyState>
        }
        keyOf={({ id }) => id}
      >
        {(trigger) => <TriggerRow trigger={trigger} onDelete={() => void triggers.refresh()} />}
      </PagedList>
      {triggers.items !== undefined && triggers.items.length > 0 && (
        <div className="mt-3">{create}</div>
      )}
      {isCreating && (
        <CreateTrigger
          path={path}
          onClose={() => setIsCreating(false)}
          onCreated={(trigger) => {
            if (trigger.kind === "webhook") setCreated(trigger);
            void triggers.refresh();
          }}
        />
      )}
      {created !== null && <NewTrigger created={created} onClose={() => setCreated(null)} />}
    </Section>
  );
}

function TriggerRow({ trigger, onDelete }: { trigger: Trigger; onDelete: () => void }) {
  const path = `/api/tasks/${trigger.task_id}/triggers/${trigger.id}`;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <div className="px-4 py-2.5">
      <div className="flex items-start justify-between gap-3">
        <div className="min-w-0">
          <p className="font-medium">{titleOf(trigger)}</p>
          {trigger.kind === "webhook" ? (
            <CopyableId id={trigger.url} label="Copy link" />
          ) : (
            Object.keys(trigger.config).length > 0 && (
              <code className="font-mono text-xs break-all">{JSON.stringify(trigger.config)}</code>
            )
          )}
        </div>
        <div className="flex shrink-0 gap-1">
          <Button
            variant="ghost"
            size="sm"
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          >
            Events
          </Button>
          <ConfirmDialog
            title="Delete trigger?"
            description="Events will start no more runs. Runs that have started go on."
            confirm="Delete trigger"
            onConfirm={() => remove(path)}
            onDone={onDelete}
            button={{ icon: Trash2, size: "icon", "aria-label": "Delete trigger", children: "" }}
          />
        </div>
      </div>
      {isOpen && <Events path={`${path}/events`} />}
    </div>
  );
}

function Events({ path }: { readonly path: string }) {
  const events = usePages<TriggerEvent>(path, "events", () => POLL_MS);
  return (
    <div className="mt-2">
      <PagedList
        label="Events"
        pages={events}
        loadingRows={1}
        more="events"
        empty={
          <p className="text-sm text-muted-foreground">
            Nothing has arrived in the last seven days.
          </p>
        }
        keyOf={({ id }) => id}
      >
        {(event) => <EventRow event={event} />}
      </PagedList>
    </div>
  );
}

function EventRow({ event }: { readonly event: TriggerEvent }) {
  const { run_id: runId, reason, requests } = event;
  return (
    <div className="flex items-baseline justify-between gap-3 px-4 py-2 text-sm">
      <span className="min-w-0">
        {formatDateTime(event.created_at)}
        {event.event_id !== null && (
          <code className="ml-2 font-mono text-xs break-all text-muted-foreground">
            {event.event_id}
          </code>
        )}
        {requests > 1 && (
          <span className="text-muted-foreground"> · received {requests} times</span>
        )}
        {reason !== null && <span className="block text-danger-text">{reason}</span>}
      </span>
      {runId === null ? (
        <span className="shrink-0 text-muted-foreground">
          {event.status === "waiting" ? "Waiting" : "Not started"}
        </span>
      ) : (
        <Link
          href={`/runs/${runId}`}
          prefetch={false}
          className="shrink-0 text-accent-text underline-offset-4 hover:underline"
        >
          Open run
        </Link>
      )}
    </div>
  );
}
