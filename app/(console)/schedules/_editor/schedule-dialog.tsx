"use client";
import { type FormEvent, useState } from "react";
import type { z } from "zod";
import type { ApiError } from "@/app/(console)/_api/request.ts";
import { useArtists, useTemplateChoices } from "@/app/(console)/_hooks/shared-reads.ts";
import { useFocusFirstError } from "@/app/(console)/_hooks/use-focus-first-error.ts";
import { useSubmit } from "@/app/(console)/_hooks/use-submit.ts";
import { ModelPicker } from "@/app/(console)/_models/model-picker.tsx";
import { useScope } from "@/app/(console)/_session/scope.ts";
import { fromCron, type Recurrence, toCron } from "@/app/(console)/schedules/_state/recurrence.ts";
import type { createTaskContract } from "@/lib/schedules/contract.ts";
import type { Task } from "@/lib/schedules/task.ts";
import { Button } from "../../_ui/button.tsx";
import { Dialog, DialogActions, DialogClose } from "../../_ui/dialog.tsx";
import { ErrorState } from "../../_ui/error-state.tsx";
import { Field } from "../../_ui/field.tsx";
import { Input } from "../../_ui/input.tsx";
import { Select } from "../../_ui/select.tsx";
import { Textarea } from "../../_ui/textarea.tsx";
import { TimeZoneOptions } from "../../_ui/time-zone-options.tsx";
import { Examples } from "./examples.tsx";
import { NextFiringsList } from "./next-firings-list.tsx";
import { RecurrenceField } from "./recurrence-field.tsx";

type Saved = z.output<(typeof createTaskContract)["responses"][201]["schema"]>;

const NEW_RECURRENCE: Recurrence = { kind: "weekly", days: [1], time: "09:00" };

/** A text for each field that the API refuses; its own messages are for programs. */
const FIELD_ERRORS: Readonly<Record<string, string>> = {
  title: "Enter a title of at most 200 characters.",
  prompt: "Enter a prompt of at most 10,000 characters.",
  schedule: "Choose a time that can occur. A cron expression has five fields.",
  timezone: "Choose a time zone.",
  template_id: "This template is no longer there. Choose another one.",
  artist_id: "This artist is no longer there. Choose another one.",
  model: "This model is not available. Choose another one.",
};

/**
 * Creates a schedule, or edits `task`.
 * @param timezone what a new schedule begins with
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
  const [title, setTitle] = useState(task?.title ?? "");
  const [prompt, setPrompt] = useState(task?.prompt ?? "");
  const [recurrence, setRecurrence] = useState(task ? fromCron(task.schedule) : NEW_RECURRENCE);
  const [timezone, setTimezone] = useState(task?.timezone ?? initialZone);
  const [template, setTemplate] = useState(task?.template_id ?? "");
  const [artist, setArtist] = useState(task ? (task.artist_id ?? "") : (scope.artist?.id ?? ""));
  const [model, setModel] = useState(task?.model ?? "");
  const { send, busy, error } = useSubmit<Saved>();
  const form = useFocusFirstError(error);
  const cron = toCron(recurrence);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const fields = { title, prompt, schedule: cron ?? "", timezone };
    const chosen = { artist_id: artist, template_id: template, model };
    const result = task
      ? await send(`/api/tasks/${task.id}`, { method: "PATCH", body: { ...fields, ...chosen } })
      : await send("/api/tasks", { body: { ...fields, ...withoutEmpty(chosen) } });
    if (result.ok) onSaved(result.data.task);
  };

  const errorOf = (field: string) =>
    error?.fields.includes(field) ? FIELD_ERRORS[field] : undefined;
  return (
    <Dialog
      title={task ? "Edit schedule" : "New schedule"}
      description="The agent runs the prompt at each of these times, in a session and a sandbox of its own."
      className="top-[5vh] max-h-[90vh] max-w-2xl"
      open
      onOpenChange={(open) => !open && onClose()}
    >
      <form
        ref={form}
        noValidate
        onSubmit={(event) => void submit(event)}
        className="flex flex-col gap-4"
      >
        {error !== null && !error.fields.some((field) => field in FIELD_ERRORS) && (
          <ErrorState error={describe(error)} />
        )}
        {!task && (
          <Examples
            onChoose={(example) => {
              setTitle(example.title);
              setPrompt(example.prompt);
              setRecurrence(example.recurrence);
            }}
          />
        )}
        <Field label="Title" error={errorOf("title")}>
          {(ids) => (
            <Input
              {...ids}
              value={title}
              placeholder="Monday chart watch"
              onChange={(event) => setTitle(event.target.value)}
            />
          )}
        </Field>
        <Field
          label="Prompt"
          hint="The agent cannot ask questions during a run, so include everything it needs to know."
          error={errorOf("prompt")}
        >
          {(ids) => (
            <Textarea
              {...ids}
              rows={3}
              value={prompt}
              placeholder="Check today's charts for our artists and report what has moved, with the likely reason for each."
              onChange={(event) => setPrompt(event.target.value)}
            />
          )}
        </Field>
        <RecurrenceField value={recurrence} onChange={setRecurrence} error={errorOf("schedule")} />
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Time zone" error={errorOf("timezone")}>
            {(ids) => (
              <Select
                {...ids}
                value={timezone}
                onChange={(event) => setTimezone(event.target.value)}
              >
                <TimeZoneOptions chosen={timezone} />
              </Select>
            )}
          </Field>
          <section aria-label="Next runs" className="min-w-0">
            <h3 className="mb-1.5 text-sm font-medium">Next runs</h3>
            <NextFiringsList cron={cron ?? ""} timezone={timezone} />
          </section>
        </div>
        <Choices
          {...{ template, artist, model, errorOf }}
          onTemplate={setTemplate}
          onArtist={setArtist}
          onModel={setModel}
        />
        <DialogActions>
          <DialogClose asChild>
            <Button variant="outline">Cancel</Button>
          </DialogClose>
          <Button
            type="submit"
            busy={busy}
            disabled={title.trim() === "" || prompt.trim() === "" || cron === null}
          >
            {task ? "Save" : "Create schedule"}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** Whom the work is for, and what does it. */
function Choices({
  template,
  artist,
  model,
  errorOf,
  onTemplate,
  onArtist,
  onModel,
}: {
  readonly template: string;
  readonly artist: string;
  readonly model: string;
  readonly errorOf: (field: string) => string | undefined;
  readonly onTemplate: (id: string) => void;
  readonly onArtist: (id: string) => void;
  readonly onModel: (id: string) => void;
}) {
  const artists = useArtists();
  const templates = useTemplateChoices().data?.templates ?? [];
  return (
    <div className="grid gap-4 sm:grid-cols-3">
      <Field label="Artist" error={errorOf("artist_id")}>
        {(ids) => (
          <Select {...ids} value={artist} onChange={(event) => onArtist(event.target.value)}>
            <option value="">None</option>
            {artist !== "" && !artists.some(({ account_id }) => account_id === artist) && (
              <option value={artist}>Current artist</option>
            )}
            {artists.map(({ account_id, name }) => (
              <option key={account_id} value={account_id}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Template" error={errorOf("template_id")}>
        {(ids) => (
          <Select {...ids} value={template} onChange={(event) => onTemplate(event.target.value)}>
            <option value="">None</option>
            {template !== "" && !templates.some(({ id }) => id === template) && (
              <option value={template}>Current template</option>
            )}
            {templates.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Model" error={errorOf("model")}>
        {(ids) => <ModelPicker {...ids} value={model} isField hasDefault onChoose={onModel} />}
      </Field>
    </div>
  );
}

const withoutEmpty = (chosen: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== ""));

function describe(error: ApiError): ApiError {
  switch (error.code) {
    case "quota_exceeded":
      return {
        ...error,
        message: "You have 100 schedules, the most there can be. Delete one first.",
      };
    case "not_found":
      return {
        ...error,
        message: "The schedule, its template or its artist is no longer there. Check the choices.",
      };
    case "conflict":
      return { ...error, message: "Somebody else has just changed this schedule. Open it again." };
    default:
      return error;
  }
}
