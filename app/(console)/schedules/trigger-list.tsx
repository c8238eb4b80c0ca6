import { useState } from "react";
import type {
  listConnectionsContract,
  listConnectorEventsContract,
} from "@/lib/connectors/contract.ts";
import type { createTriggerContract, Trigger, TriggerEvent } from "@/lib/triggers/contract.ts";
import { type Answer, remove } from "../_api/request.ts";
import { parseJson, useForm } from "../_hooks/use-form.ts";
import { usePages } from "../_hooks/use-pages.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { Button, SmallButton } from "../_ui/button.tsx";
import { CopyableId, CopyableText } from "../_ui/copy-button.tsx";
import { ConfirmDialog, Dialog, DialogActions } from "../_ui/dialog.tsx";
import { SelectField, TextareaField, TextField } from "../_ui/form.tsx";
import { FormDialog } from "../_ui/form-dialog.tsx";
import { formatDateTime } from "../_ui/format.ts";
import { Trash2, Webhook } from "../_ui/icons.tsx";
import { TextLink } from "../_ui/link.tsx";
import { Section } from "../_ui/page-header.tsx";
import { EmptyState, PagedList } from "../_ui/states.tsx";
import { connectorOf } from "../connectors/known-connectors.tsx";

const POLL_MS = 15_000;

/** The triggers of a schedule, and the events that have arrived. */
export function TriggerList({ taskId }: { readonly taskId: string }) {
  const path = `/api/tasks/${taskId}/triggers`;
  const triggers = usePages<Trigger>(path, "triggers");
  const [isCreating, setIsCreating] = useState(false);
  const [created, setCreated] = useState<CreatedWebhook | null>(null);
  const create = <SmallButton onClick={() => setIsCreating(true)}>Create trigger</SmallButton>;
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
  const [isOpen, setOpen] = useState(false);
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
          <SmallButton variant="ghost" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Events
          </SmallButton>
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
        <TextLink href={`/runs/${runId}`} className="shrink-0">
          Open run
        </TextLink>
      )}
    </div>
  );
}

const senders = [
  { value: "", label: "Any program, with a secret" },
  { value: "standard", label: "Standard Webhooks" },
  { value: "github", label: "GitHub" },
  { value: "slack", label: "Slack" },
] as const;

/** Returns what starts the runs of a trigger, such as “GitHub” or “New message in Gmail”. */
function titleOf(trigger: Trigger): string {
  if (trigger.kind === "webhook") {
    return senders.find(({ value }) => value === (trigger.signature ?? ""))?.label ?? "";
  }
  const { connector, event } = trigger;
  const words = event.toLowerCase().replaceAll(`${connector}_`, "").replaceAll("_", " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} in ${connectorOf(connector).name}`;
}

type Created = Answer<typeof createTriggerContract>;
type CreatedWebhook = Extract<Created, { readonly kind: "webhook" }>;

interface CreateTriggerProps {
  readonly path: string;
  readonly onCreated: (trigger: Created) => void;
  readonly onClose: () => void;
}

function CreateTrigger({ path, onCreated, onClose }: CreateTriggerProps) {
  const form = useForm(
    { signature: "", secret: "", connector: "", event: "", config: "" },
    {
      secret: "Enter the secret as the sender has it: at least 16 characters.",
      config: "The service does not accept this. Enter JSON with the fields of the event.",
    },
  );
  const { signature, secret, connector, event, config } = form.values;
  const connections =
    useQuery<Answer<typeof listConnectionsContract>>("/api/connectors").data?.data.connections;
  const connected = connections?.filter(({ status }) => status === "active") ?? [];
  const services = [...new Set(connected.map((one) => one.connector))].map((slug) => ({
    ...{ value: `connected ${slug}`, label: `Your ${connectorOf(slug).name}` },
  }));
  const events = useQuery<Answer<typeof listConnectorEventsContract>>(
    connector === "" ? null : `/api/connectors/${connector}/events?limit=100`,
  ).data?.data.events;
  const chosen = events?.find(({ name }) => name === event);
  const fields = Object.keys(chosen?.configSchema.properties ?? {});
  const onSubmit = async () => {
    const webhook = {
      kind: "webhook",
      ...(signature !== "" && { signature, ...(secret !== "" && { secret }) }),
    };
    const body =
      connector === ""
        ? webhook
        : { kind: "connector", connector, event, config: parseJson(config.trim() || "{}") };
    const result = await form.send<Created>(path, { body });
    if (!result.ok) return;
    onClose();
    onCreated(result.data);
  };
  return (
    <FormDialog
      title="Create trigger"
      submit="Create trigger"
      isComplete={connector === "" || event !== ""}
      {...{ form, onSubmit, onClose }}
    >
      <SelectField
        label="Sender"
        value={connector === "" ? signature : `connected ${connector}`}
        options={[...senders, ...services]}
        onChange={(value) => {
          const slug = value.startsWith("connected ") ? value.slice(10) : "";
          form.set({ signature: slug === "" ? value : "", connector: slug, event: "" });
        }}
      />
      {connector !== "" && (
        <SelectField
          label="Event"
          hint={chosen?.description}
          options={(events ?? []).map(({ name, title }) => ({ value: name, label: title }))}
          {...form.field("event")}
        >
          <option value="">{events === undefined ? "Loading events…" : "Choose an event"}</option>
        </SelectField>
      )}
      {fields.length > 0 && (
        <TextareaField
          label="Config (JSON)"
          hint={`Fields: ${fields.join(", ")}`}
          {...form.field("config")}
        />
      )}
      {signature !== "" && (
        <TextField
          label={signature === "slack" ? "Signing secret" : "Secret (optional)"}
          hint={
            signature === "slack"
              ? "From “Basic Information” of the Slack app."
              : "Leave it empty to get a new one."
          }
          maxLength={200}
          autoComplete="off"
          {...form.field("secret")}
        />
      )}
    </FormDialog>
  );
}

/** Shows the secret of a new trigger, for the only time, and a command that sends an event. */
function NewTrigger({ created, onClose }: { created: CreatedWebhook; onClose: () => void }) {
  const { url, secret, signature } = created;
  const line = `curl ${url} -H 'authorization: Bearer ${secret}' -H 'content-type: application/json' -d '{"hello":"world"}'`;
  return (
    <Dialog
      onClose={onClose}
      title="Trigger created"
      description="Copy the secret now. You will not be able to see it again."
    >
      <h3 className="text-sm font-medium">URL</h3>
      <CopyableText label="URL" text={url} />
      <h3 className="mt-4 text-sm font-medium">Secret</h3>
      <CopyableText label="secret" text={secret} />
      {signature === null && (
        <>
          <h3 className="mt-4 text-sm font-medium">Try it in a terminal</h3>
          <CopyableText label="command" text={line} />
        </>
      )}
      <DialogActions>
        <Button onClick={onClose}>Done</Button>
      </DialogActions>
    </Dialog>
  );
}
