import type { DeliveryAddress } from "@/lib/delivery/contract.ts";
import type { createTaskContract } from "@/lib/tasks/contract.ts";
import type { Task } from "@/lib/tasks/task.ts";
import type { Answer, ApiError } from "../../_api/request.ts";
import { useAccount, useArtists, useTemplateChoices } from "../../_hooks/shared-reads.ts";
import { useForm } from "../../_hooks/use-form.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { useSubmit } from "../../_hooks/use-submit.ts";
import { ModelField } from "../../_models/model-field.tsx";
import { useScope } from "../../_session/scope.ts";
import { SmallButton } from "../../_ui/button.tsx";
import { ChipsInput } from "../../_ui/chips-input.tsx";
import { Field, SelectField, TextareaField, TextField, timeZoneOptions } from "../../_ui/form.tsx";
import { FormDialog } from "../../_ui/form-dialog.tsx";
import { toast } from "../../_ui/toast.tsx";
import { fromCron, type Recurrence, toCron } from "../_state/recurrence.ts";
import { NextFiringsList } from "./next-firings-list.tsx";
import { RecurrenceField } from "./recurrence-field.tsx";

const NEW_RECURRENCE: Recurrence = { kind: "weekly", days: [1], time: "09:00" };

/** A text for each field that the API refuses; its own messages are for programs. */
const FIELD_ERRORS = {
  title: "Enter a title of at most 200 characters.",
  prompt: "Enter a prompt of at most 10,000 characters.",
  schedule: "Choose a time that can occur. A cron expression has five fields.",
  timezone: "Choose a time zone.",
  template_id: "This template is no longer there. Choose another one.",
  artist_id: "This artist is no longer there. Choose another one.",
  model: "This model is not available. Choose another one.",
  deliver:
    "Someone here can’t receive results yet. People outside your organizations must confirm first.",
};

/**
 * Creates a schedule, or edits `task`.
 * @param timezone the initial time zone of a new schedule
 */
export function ScheduleDialog({
  task,
  timezone: initialZone,
  onClose,
  onSaved,
}: {
  readonly task?: Task;
  readonly timezone: string;
  readonly onClose: () => void;
  readonly onSaved: (task: Task) => void;
}) {
  const scope = useScope();
  const artists = useArtists().map(({ account_id, name }) => ({ value: account_id, label: name }));
  const templates = (useTemplateChoices().data?.templates ?? []).map((one) => ({
    ...{ value: one.id, label: one.title },
  }));
  const form = useForm(
    {
      title: task?.title ?? "",
      prompt: task?.prompt ?? "",
      schedule: task ? fromCron(task.schedule) : NEW_RECURRENCE,
      timezone: task?.timezone ?? initialZone,
      template_id: task?.template_id ?? "",
      artist_id: (task ? task.artist_id : scope.artist?.id) ?? "",
      model: task?.model ?? "",
      deliver: task?.deliver?.flatMap(({ to }) => to) ?? [],
    },
    FIELD_ERRORS,
  );
  const { title, prompt, schedule, timezone, deliver, ...chosen } = form.values;
  const { formError } = form;
  const cron = toCron(schedule);

  const onSubmit = async () => {
    const fields = { title, prompt, schedule: cron ?? "", timezone };
    const to = deliver.length === 0 ? "" : deliveriesTo(deliver, task?.deliver ?? []);
    const given = Object.entries({ ...chosen, deliver: to }).filter(
      ([, value]) => task || value !== "",
    );
    const result = await form.send<Answer<typeof createTaskContract>>(
      task ? `/api/tasks/${task.id}` : "/api/tasks",
      { method: task ? "PATCH" : "POST", body: { ...fields, ...Object.fromEntries(given) } },
    );
    if (result.ok) onSaved(result.data.task);
  };

  return (
    <FormDialog
      title={task ? "Edit schedule" : "New schedule"}
      description="The agent runs the prompt at each of these times, in a new chat of its own."
      className="top-[5vh] max-h-[90vh] max-w-2xl"
      submit={task ? "Save" : "Create schedule"}
      form={{ ...form, formError: formError && { ...formError, message: messageOf(formError) } }}
      isComplete={title.trim() !== "" && prompt.trim() !== "" && cron !== null}
      {...{ onSubmit, onClose }}
    >
      {!task && <Examples onChoose={form.set} />}
      <TextField label="Title" placeholder="Monday chart watch" {...form.field("title")} />
      <TextareaField
        label="Prompt"
        hint="The agent cannot ask questions during a run, so include everything it needs to know."
        rows={3}
        placeholder="Check today's charts for our artists and report what has moved, with the likely reason for each."
        {...form.field("prompt")}
      />
      <RecurrenceField {...form.field("schedule")} />
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label="Time zone"
          options={timeZoneOptions(timezone)}
          {...form.field("timezone")}
        />
        <section aria-label="Next runs" className="min-w-0">
          <h3 className="mb-1.5 text-sm font-medium">Next runs</h3>
          <NextFiringsList cron={cron ?? ""} timezone={timezone} />
        </section>
      </div>
      <RecipientsField {...form.field("deliver")} />
      <div className="grid gap-4 sm:grid-cols-3">
        <SelectField
          label="Artist"
          options={withCurrent(artists, chosen.artist_id, "Current artist")}
          {...form.field("artist_id")}
        />
        <SelectField
          label="Template"
          options={withCurrent(templates, chosen.template_id, "Current template")}
          {...form.field("template_id")}
        />
        <ModelField label="Model" hasDefault {...form.field("model")} />
      </div>
    </FormDialog>
  );
}

type Deliveries = NonNullable<Task["deliver"]>;

/** Returns the deliveries to these recipients: new ones are added to the first, and no delivery loses its options. */
function deliveriesTo(recipients: readonly string[], before: Deliveries): Deliveries {
  const kept = before.map(({ to, ...rest }) => ({
    ...{ ...rest, to: to.filter((address) => recipients.includes(address)) },
  }));
  const added = recipients.filter((address) => !kept.some(({ to }) => to.includes(address)));
  const [first = { kind: "email" as const, to: [] }, ...others] = kept;
  return [{ ...first, to: [...first.to, ...added] }, ...others].filter(({ to }) => to.length > 0);
}

type Option = Readonly<{ value: string; label: string }>;

/** Returns the options with "None", and with the chosen one, which may not be among them yet. */
const withCurrent = (options: readonly Option[], chosen: string, label: string): Option[] => [
  { value: "", label: "None" },
  ...(chosen === "" || options.some(({ value }) => value === chosen)
    ? []
    : [{ value: chosen, label }]),
  ...options,
];

const messageOf = ({ code, message }: ApiError): string => ERROR_TEXTS[code] ?? message;

/** The text for an error that is about none of the fields, by its code. */
const ERROR_TEXTS: Readonly<Record<string, string>> = {
  quota_exceeded: "You have 100 schedules, the most there can be. Delete one first.",
  not_found: "The schedule, its template or its artist is no longer there. Check the choices.",
  conflict: "Somebody else has just changed this schedule. Open it again.",
};

type Example = Readonly<{ title: string; prompt: string; schedule: Recurrence }>;

const examples: readonly Example[] = [
  {
    title: "Monday streaming report",
    prompt:
      "Sum up last week's streams of our artists by track and platform. Compare them with the week before, and name the three changes that matter.",
    schedule: { kind: "weekly", days: [1], time: "08:00" },
  },
  {
    title: "Daily chart watch",
    prompt:
      "Check today's charts for our artists and report what has moved, with the likely reason for each.",
    schedule: { kind: "weekdays", time: "09:00" },
  },
  {
    title: "Royalty deadlines",
    prompt:
      "List the royalty statements and payments that are due this month, with their dates and who sends them.",
    schedule: { kind: "monthly", day: "1", time: "09:00" },
  },
];

/** Fills the form of a new schedule, to be changed or created as it is. */
const Examples = ({ onChoose }: { readonly onChoose: (example: Example) => void }) => (
  <section aria-label="Examples" className="flex flex-wrap items-center gap-2">
    <span className="text-sm text-muted-foreground">Start from an example:</span>
    {examples.map((example) => (
      <SmallButton key={example.title} onClick={() => onChoose(example)}>
        {example.title}
      </SmallButton>
    ))}
  </section>
);

const ADDRESS_STATES = {
  pending: "has not confirmed yet.",
  unsubscribed: "has unsubscribed.",
  bounced: "could not be reached.",
  unknown: "needs to confirm first, unless they are in your organization.",
} as const;

interface RecipientsFieldProps {
  readonly value: readonly string[];
  readonly onChange: (value: string[]) => void;
  readonly error: string | undefined;
}

/** The recipients of the answers, including those who have not confirmed yet. */
function RecipientsField({ value, onChange, error }: RecipientsFieldProps) {
  const own = useAccount().data?.account.email;
  const { data, reload } = useQuery<{ addresses: DeliveryAddress[] }>(
    "/api/delivery-addresses?limit=100",
  );
  const { send, busy } = useSubmit();
  const ask = async (address: string) => {
    const result = await send("/api/delivery-addresses", { body: { address } });
    if (result.ok) toast(`Confirmation email sent to ${address}`);
    else toast(result.error.message, "danger");
    reload();
  };
  return (
    <Field
      label="Email results to"
      hint="You, members of your organizations, and people who have confirmed. Empty answers aren’t sent."
      error={error}
    >
      {(ids) => (
        <>
          <ChipsInput {...{ ...ids, value, onChange }} placeholder="name@example.com" />
          {value.map((address) => {
            const known = data?.addresses.find((one) => one.address === address.toLowerCase());
            const state = known?.state ?? "unknown";
            if (!data || address === own || state === "confirmed") return null;
            return (
              <p key={address} className="flex flex-wrap items-center gap-2 text-sm wrap-anywhere">
                {address} {ADDRESS_STATES[state]}
                <SmallButton busy={busy} onClick={() => void ask(address)}>
                  Ask to confirm
                </SmallButton>
              </p>
            );
          })}
        </>
      )}
    </Field>
  );
}
