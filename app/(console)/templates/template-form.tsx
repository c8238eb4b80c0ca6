import type { createTemplateContract } from "@/lib/templates/contract.ts";
import type { Template } from "@/lib/templates/template.ts";
import type { Answer } from "../_api/request.ts";
import { parseJson, useForm } from "../_hooks/use-form.ts";
import { ModelField } from "../_models/model-field.tsx";
import { ChipsField } from "../_ui/chips-input.tsx";
import { Switch, TextareaField, TextField } from "../_ui/form.tsx";
import { FormDialog } from "../_ui/form-dialog.tsx";

const INVALID_TEXTS = {
  title: "Enter 3 to 50 characters.",
  description: "Enter 10 to 200 characters.",
  prompt: "Enter 20 to 10,000 characters.",
  tags: "Use at most 100 tags of at most 100 characters each.",
  output_schema: 'Enter a JSON schema, such as {"type": "object"}.',
  share_emails: "Remove or correct the highlighted addresses. Up to 100 are allowed.",
};

export type TemplateValues = ReturnType<typeof valuesOf>;

const valuesOf = (template: Template | null) => ({
  title: template?.title ?? "",
  description: template?.description ?? "",
  prompt: template?.prompt ?? "",
  tags: template?.tags ?? [],
  is_private: template?.is_private ?? true,
  share_emails: template?.shared_emails ?? [],
  model: template?.model ?? "",
  /** A JSON schema as text, or empty. */
  output_schema: template?.output_schema ? JSON.stringify(template.output_schema, null, 2) : "",
});

interface TemplateFormProps {
  readonly template: Template | null;
  /** The values of a new template whose dialog was closed before it was saved. */
  readonly draft: TemplateValues | null;
  readonly onClose: (values: TemplateValues) => void;
  readonly onSaved: (template: Template) => void;
}

export function TemplateForm({ template, draft, onClose, onSaved }: TemplateFormProps) {
  const form = useForm((template === null && draft) || valuesOf(template), INVALID_TEXTS);
  const { values, error, set } = form;
  const onSubmit = async () => {
    const { model, output_schema: schema, is_private, share_emails, ...rest } = values;
    const isNew = template === null;
    const body = {
      ...{ ...rest, is_private, share_emails: is_private ? share_emails : [] },
      // An empty text removes an option, and a new template has none.
      ...(isNew && model === "" ? {} : { model }),
      ...(isNew && schema.trim() === "" ? {} : { output_schema: parseJson(schema.trim()) }),
    };
    const result = await form.send<Answer<typeof createTemplateContract>>(
      `/api/agents/templates${template === null ? "" : `/${template.id}`}`,
      { method: template === null ? "POST" : "PATCH", body },
    );
    if (result.ok) onSaved(result.data.template);
  };
  return (
    <FormDialog
      title={template === null ? "New template" : "Edit template"}
      className="max-w-xl sm:top-[6vh] sm:max-h-[88vh]"
      submit={template === null ? "Create template" : "Save"}
      {...{ form, onSubmit }}
      onClose={() => onClose(values)}
    >
      <TextField
        label="Title"
        hint="3 to 50 characters"
        maxLength={200}
        placeholder="Festival one-sheet"
        {...form.field("title")}
      />
      <TextareaField
        label="Description"
        hint="10 to 200 characters about what the template is for"
        rows={2}
        placeholder="Sums up an artist for festival bookers."
        {...form.field("description")}
      />
      <TextareaField
        label="Prompt"
        hint="20 to 10,000 characters: the instructions for the agent. {artist}, {period} or any other name in braces is asked for on each use."
        rows={7}
        placeholder="Write a one-sheet for festival bookers: the sound, the audience by country, the last shows, the fee and the free dates."
        {...form.field("prompt")}
      />
      <ChipsField
        label="Tags"
        hint="Press Enter after each tag. Up to 100 tags."
        placeholder="release, planning"
        {...form.field("tags")}
      />
      <Switch
        label="Private"
        hint={
          values.is_private
            ? "Only you and the people you share it with can see this template."
            : "Public: everyone who uses this service can see this template and its prompt, and start chats with it."
        }
        checked={values.is_private}
        onChange={(is_private) => set({ is_private })}
      />
      <ModelField
        label="Model"
        hint="For your own chats, runs and schedules"
        hasDefault
        {...form.field("model")}
      />
      <TextareaField
        label="Output schema (optional)"
        hint="A JSON schema for the result of runs, which then is data instead of text"
        rows={3}
        {...form.field("output_schema")}
      />
      {values.is_private && (
        <ChipsField
          label="Share with"
          hint="Email addresses of people who can use the template. They do not need an account yet."
          isInvalid={(index) => error?.fields.includes(`share_emails.${index}`) ?? false}
          placeholder="someone@example.com"
          {...form.field("share_emails")}
        />
      )}
    </FormDialog>
  );
}
