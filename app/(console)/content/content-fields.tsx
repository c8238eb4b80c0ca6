"use client";
import { ChevronRight } from "lucide-react";
import { type ComponentProps, type ReactNode, useState } from "react";
import type { listContentTemplatesContract } from "@/lib/content/contract.ts";
import {
  ASPECT_RATIOS,
  type AspectRatio,
  RESOLUTIONS,
  type Resolution,
} from "@/lib/content/port.ts";
import type { Answer, ApiError } from "../_api/request.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { Field, Input, Select } from "../_ui/form.tsx";
import { Segmented } from "../_ui/segmented.tsx";
import { ErrorState } from "../_ui/states.tsx";

/** A field of a content request. It shows `invalidText` if the API refused its value. */
export function ContentField({
  name,
  error,
  invalidText,
  ...rest
}: Omit<ComponentProps<typeof Field>, "error"> & {
  readonly name: string;
  readonly error: ApiError | null;
  readonly invalidText: string;
}) {
  const isInvalid = error !== null && invalidField(error) === name;
  return <Field {...rest} error={isInvalid ? invalidText : undefined} />;
}

/** An error that is about none of the form's fields. */
export function FormError({
  error,
  fields,
}: {
  readonly error: ApiError | null;
  readonly fields: readonly string[];
}) {
  if (error === null) return null;
  const field = invalidField(error);
  if (field !== null && fields.includes(field)) return null;
  if (error.code === "upstream_timeout" || error.code === "idempotency_in_progress") {
    return (
      <p role="status" className="rounded-md bg-muted px-3 py-2 text-sm text-muted-foreground">
        This is taking longer than usual. It is still running, and the result will appear in your
        history.
      </p>
    );
  }
  return <ErrorState error={error} />;
}

/** Only the template of a content request can be not found. */
function invalidField({ code, fields }: ApiError): string | null {
  return code === "not_found" ? "template" : (fields[0] ?? null);
}

export function ModelField({
  error,
  hint,
  value,
  onChange,
}: {
  readonly error: ApiError | null;
  readonly hint: string;
  readonly value: string;
  readonly onChange: (model: string) => void;
}) {
  return (
    <ContentField
      name="model"
      label="Model"
      error={error}
      invalidText="This model is unknown, or it does not support these settings."
      hint={hint}
    >
      {(ids) => <Input {...ids} value={value} onChange={onChange} />}
    </ContentField>
  );
}

export function TemplateField({
  error,
  hint,
  value,
  onChange,
}: {
  readonly error: ApiError | null;
  /** Explains what a template does for this type of content. */
  readonly hint: string;
  readonly value: string;
  readonly onChange: (template: string) => void;
}) {
  const { data } = useQuery<Answer<typeof listContentTemplatesContract>>("/api/content/templates");
  const chosen = data?.templates.find(({ id }) => id === value);
  return (
    <ContentField
      name="template"
      label="Template"
      error={error}
      invalidText="This template no longer exists. Choose another one."
      hint={chosen?.description ?? hint}
    >
      {(ids) => (
        <Select {...ids} value={value} onChange={onChange}>
          <option value="">None</option>
          {data?.templates.map(({ id }) => (
            <option key={id} value={id}>
              {nameOf(id)}
            </option>
          ))}
          {chosen === undefined && value !== "" && <option value={value}>{value}</option>}
        </Select>
      )}
    </ContentField>
  );
}

/** Returns `Rooftop dusk` for `rooftop-dusk`. */
function nameOf(id: string): string {
  const words = id.replace(/-/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const aspects = ASPECT_RATIOS.map((value) => ({ value, label: value === "auto" ? "Auto" : value }));
const resolutions = RESOLUTIONS.map((value) => ({ value, label: value === "4k" ? "4K" : value }));

/** The aspect ratio and the resolution, which images and videos share. */
export function ShapeFields({
  aspectRatio,
  resolution,
  onChange,
}: {
  readonly aspectRatio: AspectRatio;
  readonly resolution: Resolution;
  readonly onChange: (change: { aspect_ratio?: AspectRatio; resolution?: Resolution }) => void;
}) {
  return (
    <div className="flex flex-wrap gap-x-6 gap-y-4">
      <Segmented
        label="Aspect ratio"
        options={aspects}
        value={aspectRatio}
        onChange={(aspect_ratio) => onChange({ aspect_ratio })}
      />
      <Segmented
        label="Resolution"
        options={resolutions}
        value={resolution}
        onChange={(value) => onChange({ resolution: value })}
      />
    </div>
  );
}

/** Collapsed options that few people need. They expand if one of them is set. */
export function MoreOptions({
  isOpen,
  children,
}: {
  readonly isOpen: boolean;
  readonly children: ReactNode;
}) {
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
