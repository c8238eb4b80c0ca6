import type { ComponentProps } from "react";
import type { ApiError } from "@/app/(console)/_api/request.ts";
import { ErrorState } from "../_ui/error-state.tsx";
import { Field } from "../_ui/field.tsx";

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
