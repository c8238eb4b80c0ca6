import { type ReactNode, useId } from "react";
import { cn } from "./class-names.ts";

/** A switch with its label on the left and an optional hint below. */
export function Switch({
  label,
  hideLabel = false,
  hint,
  checked,
  onChange,
}: {
  readonly label: string;
  /** Hides the label visually; screen readers still announce it. */
  readonly hideLabel?: boolean;
  readonly hint?: ReactNode;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}) {
  const id = useId();
  return (
    <div className="flex items-start justify-between gap-4">
      <div className="min-w-0">
        <label htmlFor={id} className={cn("text-sm font-medium", hideLabel && "sr-only")}>
          {label}
        </label>
        {hint !== undefined && (
          <p id={`${id}-hint`} className="text-sm text-muted-foreground">
            {hint}
          </p>
        )}
      </div>
      <input
        id={id}
        type="checkbox"
        role="switch"
        aria-checked={checked}
        {...(hint === undefined ? {} : { "aria-describedby": `${id}-hint` })}
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
        className="relative mt-0.5 h-5 w-9 shrink-0 cursor-pointer appearance-none rounded-full bg-input transition-colors before:absolute before:top-0.5 before:left-0.5 before:size-4 before:rounded-full before:bg-white before:shadow-sm before:transition-transform checked:bg-accent checked:before:translate-x-4 after:absolute after:-inset-2"
      />
    </div>
  );
}
