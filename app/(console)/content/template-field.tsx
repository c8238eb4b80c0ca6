"use client";
import type { z } from "zod";
import type { ApiError } from "@/app/(console)/_api/request.ts";
import { useQuery } from "@/app/(console)/_hooks/use-query.ts";
import type { listContentTemplatesContract } from "@/lib/content/contract.ts";
import { Select } from "../_ui/select.tsx";
import { ContentField } from "./content-field.tsx";

type Templates = z.output<(typeof listContentTemplatesContract)["responses"][200]["schema"]>;

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
  const { data } = useQuery<Templates>("/api/content/templates");
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
        <Select {...ids} value={value} onChange={(event) => onChange(event.target.value)}>
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
