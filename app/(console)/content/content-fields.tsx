import { ChevronRight, type LucideIcon } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { listContentTemplatesContract } from "@/lib/content/contract.ts";
import {
  ASPECT_RATIOS,
  type AspectRatio,
  RESOLUTIONS,
  type Resolution,
} from "@/lib/content/port.ts";
import type { Answer, ApiError } from "../_api/request.ts";
import { useFocusFirstError } from "../_hooks/use-form.ts";
import { useQuery } from "../_hooks/use-query.ts";
import type { Submit } from "../_hooks/use-submit.ts";
import { Button } from "../_ui/button.tsx";
import { Segmented, SelectField } from "../_ui/form.tsx";
import { ErrorState } from "../_ui/states.tsx";

/** The form of a content request and the fields that images and videos share. */

export interface ContentFormProps<V> {
  readonly values: V;
  readonly onChange: (change: Partial<V>) => void;
  readonly submission: Pick<Submit, "busy" | "error">;
  readonly onSubmit: () => void;
}

/** Only the template of a content request can be not found. */
const invalidField = ({ code, fields }: ApiError): string | undefined =>
  code === "not_found" ? "template" : fields[0];

const INVALID_TEXTS: Readonly<Record<string, string>> = {
  template: "This template no longer exists. Choose another one.",
  model: "This model is unknown, or it does not support these settings.",
  negative_prompt: "Use at most 10,000 characters.",
};

/** Returns a function that returns the properties of a text field, with its text if the API refused its value. */
export const fieldsOf =
  <K extends string, V extends Readonly<Record<K, string>>>({
    values,
    onChange,
    submission: { error },
  }: ContentFormProps<V>) =>
  (name: K, invalidText = INVALID_TEXTS[name]) => ({
    value: values[name],
    onChange: (value: string) => onChange({ [name]: value } as unknown as Partial<V>),
    error: error && invalidField(error) === name ? invalidText : undefined,
  });

/** @param fields the names of those that show what is wrong with their value */
export function ContentForm({
  label,
  icon: Icon,
  submit,
  fields,
  submission: { busy, error },
  onSubmit,
  children,
}: Pick<ContentFormProps<unknown>, "submission" | "onSubmit"> & {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly submit: string;
  readonly fields: readonly string[];
  readonly children: ReactNode;
}) {
  const form = useFocusFirstError(error);
  const isOfField = error !== null && fields.includes(invalidField(error) ?? "");
  const isSlow = error?.code === "upstream_timeout" || error?.code === "idempotency_in_progress";
  return (
    <form
      ref={form}
      noValidate
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      className="flex flex-col gap-4"
    >
      {children}
      {isSlow && (
        <p role="status" className="rounded-md bg-muted px-3 py-2 text-sm text-muted-foreground">
          This is taking longer than usual. It is still running, and the result will appear in your
          history.
        </p>
      )}
      {error !== null && !isOfField && !isSlow && <ErrorState error={error} />}
      <Button icon={Icon} type="submit" size="lg" busy={busy}>
        {submit}
      </Button>
    </form>
  );
}

interface TemplateFieldProps {
  readonly hint: string;
  readonly value: string;
  readonly onChange: (template: string) => void;
  readonly error: string | undefined;
}

export function TemplateField({ hint, value, ...rest }: TemplateFieldProps) {
  const { data } = useQuery<Answer<typeof listContentTemplatesContract>>("/api/content/templates");
  const chosen = data?.templates.find(({ id }) => id === value);
  const known = data?.templates.map(({ id }) => ({ value: id, label: nameOf(id) })) ?? [];
  return (
    <SelectField
      label="Template"
      hint={chosen?.description ?? hint}
      value={value}
      options={chosen || value === "" ? known : [...known, { value, label: value }]}
      {...rest}
    >
      <option value="">None</option>
    </SelectField>
  );
}

/** Returns `Rooftop dusk` for `rooftop-dusk`. */
function nameOf(id: string): string {
  const words = id.replace(/-/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const aspects = ASPECT_RATIOS.map((value) => ({ value, label: value === "auto" ? "Auto" : value }));
const resolutions = RESOLUTIONS.map((value) => ({ value, label: value === "4k" ? "4K" : value }));

interface ShapeFieldsProps {
  readonly aspectRatio: AspectRatio;
  readonly resolution: Resolution;
  readonly onChange: (change: { aspect_ratio?: AspectRatio; resolution?: Resolution }) => void;
}

export function ShapeFields({ aspectRatio, resolution, onChange }: ShapeFieldsProps) {
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
