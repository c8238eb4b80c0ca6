import { ASPECT_RATIOS, IMAGE_ASPECT_RATIOS, RESOLUTIONS } from "@platform/media/port";
import { type ReactNode, useState } from "react";
import type { listContentTemplatesContract } from "@/lib/content/contract.ts";
import type { Answer } from "../_api/request.ts";
import type { FormState } from "../_hooks/use-form.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { Button } from "../_ui/button.tsx";
import { Form, SelectField } from "../_ui/form.tsx";
import { ChevronRight, type IconComponent } from "../_ui/icons.tsx";
import { ErrorState } from "../_ui/states.tsx";
import { nameOf } from "../runs/_state/task-run-state.ts";

export interface ContentFormProps<V extends object> {
  readonly form: FormState<V>;
  /** Whether an image or a video of this page is being made. */
  readonly busy: boolean;
  readonly onSubmit: () => void;
}

/** The form of a content request. Only its template can be not found, and says so by itself. */
export function ContentForm({
  label,
  icon,
  submit,
  form: { ref, formError: error },
  busy,
  onSubmit,
  children,
}: Omit<ContentFormProps<never>, "form"> & {
  readonly label: string;
  readonly icon: IconComponent;
  readonly submit: string;
  readonly form: Pick<FormState<object>, "ref" | "formError">;
  readonly children: ReactNode;
}) {
  const isSlow = error?.code === "upstream_timeout" || error?.code === "idempotency_in_progress";
  return (
    <Form {...{ ref, onSubmit }} noValidate aria-label={label} className="flex flex-col gap-4">
      {children}
      {isSlow && (
        <p role="status" className="rounded-md bg-muted px-3 py-2 text-sm text-muted-foreground">
          This is taking longer than usual. It is still running, and the result will appear in your
          history.
        </p>
      )}
      {error !== null && error.code !== "not_found" && !isSlow && <ErrorState error={error} />}
      <Button icon={icon} type="submit" size="lg" busy={busy}>
        {submit}
      </Button>
    </Form>
  );
}

interface TemplateFieldProps {
  readonly form: Pick<FormState<object>, "error">;
  readonly hint: string;
  readonly value: string;
  readonly onChange: (template: string) => void;
}

export function TemplateField({ form: { error }, hint, value, onChange }: TemplateFieldProps) {
  const { data } = useQuery<Answer<typeof listContentTemplatesContract>>("/api/content/templates");
  const chosen = data?.templates.find(({ id }) => id === value);
  const known = data?.templates.map(({ id }) => ({ value: id, label: nameOf(id) })) ?? [];
  const isGone = error?.code === "not_found" || error?.fields.includes("template");
  return (
    <SelectField
      label="Template"
      hint={chosen?.description ?? hint}
      error={isGone ? TEMPLATE_TEXT : undefined}
      value={value}
      onChange={onChange}
      options={chosen || value === "" ? known : [...known, { value, label: value }]}
    >
      <option value="">None</option>
    </SelectField>
  );
}

const TEMPLATE_TEXT = "This template no longer exists. Choose another one.";

/** The texts for values that the API refuses. */
export const INVALID_TEXTS = {
  template: TEMPLATE_TEXT,
  model: "This model is unknown, or it does not support these settings.",
};

const aspectsOf = <Value extends string>(ratios: readonly Value[]) =>
  ratios.map((value) => ({ value, label: value === "auto" ? "Auto" : value }));
export const aspects = aspectsOf(ASPECT_RATIOS);
export const imageAspects = aspectsOf(IMAGE_ASPECT_RATIOS);
export const resolutions = RESOLUTIONS.map((value) => ({
  ...{ value, label: value === "4k" ? "4K" : value },
}));

type MoreOptionsProps = Readonly<{ isOpen: boolean; children: ReactNode }>;

/** Collapsed options that few people need. They expand if one of them is set. */
export function MoreOptions({ isOpen, children }: MoreOptionsProps) {
  const [isExpanded, setIsExpanded] = useState(isOpen);
  const shown = isExpanded || isOpen;
  return (
    <details
      open={shown}
      onToggle={(event) => setIsExpanded(event.currentTarget.open)}
      className="group"
    >
      <summary className="flex w-fit items-center gap-1 rounded-md text-sm font-medium text-muted-foreground select-none hover:text-foreground [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="size-4 transition-transform group-open:rotate-90" />
        More options
      </summary>
      <div className="mt-3 flex flex-col gap-4">{children}</div>
    </details>
  );
}
