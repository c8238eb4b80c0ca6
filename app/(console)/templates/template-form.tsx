"use client";
import { type FormEvent, useState } from "react";
import type { z } from "zod";
import { useFocusFirstError } from "@/app/(console)/_hooks/use-focus-first-error.ts";
import { useSubmit } from "@/app/(console)/_hooks/use-submit.ts";
import type { createTemplateContract } from "@/lib/templates/contract.ts";
import type { Template } from "@/lib/templates/template.ts";
import { Button } from "../_ui/button.tsx";
import { ChipsInput } from "../_ui/chips-input.tsx";
import { Dialog, DialogActions, DialogClose } from "../_ui/dialog.tsx";
import { ErrorState } from "../_ui/error-state.tsx";
import { Field } from "../_ui/field.tsx";
import { Input } from "../_ui/input.tsx";
import { Switch } from "../_ui/switch.tsx";
import { Textarea } from "../_ui/textarea.tsx";

export type TemplateValues = Required<z.input<(typeof createTemplateContract)["body"]>>;
type Saved = z.output<(typeof createTemplateContract)["responses"][201]["schema"]>;
type FieldName = keyof TemplateValues;

const HINTS: Readonly<Partial<Record<FieldName, string>>> = {
  title: "3 to 50 characters",
  description: "10 to 200 characters about what the template is for",
  prompt: "20 to 10,000 characters: the instructions for the agent",
  tags: "Press Enter after each tag. Up to 100 tags.",
  share_emails:
    "Email addresses of people who can use the template. They do not need an account yet.",
};
const INVALID_TEXTS: Readonly<Partial<Record<FieldName, string>>> = {
  title: "Enter 3 to 50 characters.",
  description: "Enter 10 to 200 characters.",
  prompt: "Enter 20 to 10,000 characters.",
  tags: "Use at most 100 tags of at most 100 characters each.",
  share_emails: "Remove or correct the highlighted addresses. Up to 100 are allowed.",
};

const emptyValues: TemplateValues = {
  title: "",
  description: "",
  prompt: "",
  tags: [],
  is_private: true,
  share_emails: [],
};

const pick = ({ title, description, prompt, tags, is_private }: Template) => ({
  title,
  description,
  prompt,
  tags,
  is_private,
});

/** A dialog to create or edit a template. */
export function TemplateForm({
  template,
  draft,
  onClose,
  onSaved,
}: {
  /** Null for a new template. */
  readonly template: Template | null;
  /** The values of a new template whose dialog was closed before it was saved. */
  readonly draft: TemplateValues | null;
  /** Called with the unsaved values. */
  readonly onClose: (values: TemplateValues) => void;
  readonly onSaved: (template: Template) => void;
}) {
  const [values, setValues] = useState<TemplateValues>(
    template === null
      ? (draft ?? emptyValues)
      : { ...pick(template), share_emails: template.shared_emails },
  );
  const { send, busy, error } = useSubmit<Saved>();
  const form = useFocusFirstError(error);

  const set = <K extends FieldName>(name: K, value: TemplateValues[K]) =>
    setValues((old) => ({ ...old, [name]: value }));

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const body = { ...values, share_emails: values.is_private ? values.share_emails : [] };
    const result = await (template === null
      ? send("/api/agents/templates", { body })
      : send(`/api/agents/templates/${template.id}`, { method: "PATCH", body }));
    if (result.ok) onSaved(result.data.template);
  };

  const isInvalid = (name: FieldName) =>
    error?.fields.some((path) => path === name || path.startsWith(`${name}.`)) ?? false;
  const noteFor = (name: FieldName) =>
    isInvalid(name) ? { error: INVALID_TEXTS[name] } : { hint: HINTS[name] };
  const isFormError = error !== null && error.fields.length === 0;

  return (
    <Dialog
      title={template === null ? "New template" : "Edit template"}
      open
      onOpenChange={(open) => !open && onClose(values)}
      className="max-w-xl sm:top-[6vh] sm:max-h-[88vh]"
    >
      <form
        ref={form}
        noValidate
        onSubmit={(event) => void submit(event)}
        className="flex flex-col gap-4"
      >
        {isFormError && <ErrorState error={error} />}
        <Field label="Title" {...noteFor("title")}>
          {(ids) => (
            <Input
              {...ids}
              value={values.title}
              maxLength={200}
              placeholder="Festival one-sheet"
              onChange={(event) => set("title", event.target.value)}
            />
          )}
        </Field>
        <Field label="Description" {...noteFor("description")}>
          {(ids) => (
            <Textarea
              {...ids}
              rows={2}
              placeholder="Sums up an artist for festival bookers."
              value={values.description}
              onChange={(event) => set("description", event.target.value)}
            />
          )}
        </Field>
        <Field label="Prompt" {...noteFor("prompt")}>
          {(ids) => (
            <Textarea
              {...ids}
              rows={7}
              placeholder="Write a one-sheet for festival bookers: the sound, the audience by country, the last shows, the fee and the free dates."
              value={values.prompt}
              onChange={(event) => set("prompt", event.target.value)}
            />
          )}
        </Field>
        <Field label="Tags" {...noteFor("tags")}>
          {(ids) => (
            <ChipsInput
              {...ids}
              values={values.tags}
              onChange={(tags) => set("tags", [...tags])}
              placeholder="release, planning"
            />
          )}
        </Field>
        <Switch
          label="Private"
          hint={
            values.is_private
              ? "Only you and the people you share it with can see this template."
              : "Public: everyone who uses this service can see this template and its prompt, and start chats with it."
          }
          checked={values.is_private}
          onChange={(isPrivate) => set("is_private", isPrivate)}
        />
        {values.is_private && (
          <Field label="Share with" {...noteFor("share_emails")}>
            {(ids) => (
              <ChipsInput
                {...ids}
                values={values.share_emails}
                onChange={(emails) => set("share_emails", [...emails])}
                isInvalid={(index) => error?.fields.includes(`share_emails.${index}`) ?? false}
                placeholder="someone@example.com"
              />
            )}
          </Field>
        )}
        <DialogActions>
          <DialogClose asChild>
            <Button variant="outline">Cancel</Button>
          </DialogClose>
          <Button type="submit" busy={busy}>
            {template === null ? "Create template" : "Save"}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
