import type { ApiError } from "@/app/(console)/_api/request.ts";
import { Input } from "../_ui/input.tsx";
import { ContentField } from "./content-field.tsx";

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
      {(ids) => <Input {...ids} value={value} onChange={(event) => onChange(event.target.value)} />}
    </ContentField>
  );
}
