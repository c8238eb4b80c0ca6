import { type ReactNode, useId } from "react";
import { cn } from "./class-names.ts";

interface FieldIds {
  readonly id: string;
  readonly "aria-describedby"?: string;
  readonly "aria-invalid"?: true;
}

/**
 * A form control with its label and its hint or error, linked for screen readers:
 * `<Field label="Name">{(ids) => <Input {...ids} />}</Field>`.
 */
export function Field({
  label,
  hint,
  error,
  className,
  children,
}: {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly className?: string;
  readonly children: (ids: FieldIds) => ReactNode;
}) {
  const id = useId();
  const described = error || hint ? { "aria-describedby": `${id}-note` } : {};
  const invalid = error ? ({ "aria-invalid": true } as const) : {};
  return (
    <div className={cn("flex min-w-0 flex-col gap-1.5", className)}>
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children({ id, ...described, ...invalid })}
      {(error || hint) && (
        <p
          id={`${id}-note`}
          className={cn(
            "text-sm break-words",
            error ? "text-danger-text" : "text-muted-foreground",
          )}
        >
          {error || hint}
        </p>
      )}
    </div>
  );
}
