import type { ComponentProps } from "react";
import type { ApiError } from "@/app/(console)/_hooks/api.ts";
import { fieldOf } from "@/app/(console)/content/content-form.ts";
import { ErrorState } from "../_ui/error-state.tsx";
import { Field } from "../_ui/field.tsx";

/** A field of the endpoint's request: it shows the endpoint's error when that is about it. */
export function ContentField({
  name,
  fault,
  ...rest
}: Omit<ComponentProps<typeof Field>, "error"> & {
  readonly name: string;
  readonly fault: ApiError | null;
}) {
  const isHere = fault !== null && fieldOf(fault) === name;
  return <Field {...rest} error={isHere ? fault.message : undefined} />;
}

/** An error that is about no field of the form. */
export function FormFault({
  fault,
  fields,
}: {
  readonly fault: ApiError | null;
  readonly fields: readonly string[];
}) {
  if (fault === null) return null;
  const field = fieldOf(fault);
  if (field !== null && fields.includes(field)) return null;
  if (fault.code === "upstream_timeout" || fault.code === "conflict") {
    return (
      <p role="status" className="rounded-lg bg-warning-soft px-3 py-2 text-warning-text">
        It takes longer than a request may wait. It is still being made, and appears among the
        results when it is done.
      </p>
    );
  }
  return <ErrorState error={fault} />;
}
