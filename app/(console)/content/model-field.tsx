import type { ApiError } from "@/app/(console)/_hooks/api.ts";
import { Input } from "../_ui/input.tsx";
import { ContentField } from "./content-field.tsx";

export function ModelField({
  fault,
  hint,
  value,
  onChange,
}: {
  readonly fault: ApiError | null;
  /** Whose choice it is when the field is empty. */
  readonly hint: string;
  readonly value: string;
  readonly onChange: (model: string) => void;
}) {
  return (
    <ContentField name="model" label="Model" fault={fault} hint={hint}>
      {(ids) => <Input {...ids} value={value} onChange={(event) => onChange(event.target.value)} />}
    </ContentField>
  );
}
