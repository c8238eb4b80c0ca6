import { startTransition, useId, useOptimistic } from "react";
import { cn } from "./class-names.ts";

/** A choice between a few short options, all of them visible. */
export function Segmented<T extends string>({
  label,
  hideLabel = false,
  options,
  value,
  onChange,
  className,
}: {
  readonly label: string;
  readonly hideLabel?: boolean;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly value: T;
  readonly onChange: (value: T) => void;
  readonly className?: string;
}) {
  const name = useId();
  // A value that is kept in the address changes later than the click.
  const [chosen, showChosen] = useOptimistic(value);
  const choose = (next: T) =>
    startTransition(() => {
      showChosen(next);
      onChange(next);
    });
  return (
    <fieldset className={cn("min-w-0", className)}>
      <legend className={hideLabel ? "sr-only" : "mb-1.5 text-sm font-medium"}>{label}</legend>
      <div className="flex w-fit max-w-full gap-0.5 overflow-x-auto overflow-y-hidden rounded-lg [scrollbar-width:none] bg-muted p-0.5">
        {options.map((option) => (
          <label key={option.value} className="relative shrink-0 cursor-pointer">
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === chosen}
              onChange={() => choose(option.value)}
              className="peer absolute inset-0 cursor-pointer appearance-none rounded-md focus-visible:-outline-offset-2"
            />
            <span className="pointer-events-none relative flex h-7 items-center rounded-md border border-transparent px-2.5 text-sm font-medium whitespace-nowrap text-muted-foreground peer-checked:border-border peer-checked:bg-surface peer-checked:text-foreground peer-checked:shadow-xs dark:peer-checked:border-input dark:peer-checked:bg-hover peer-focus-visible:outline-2 peer-focus-visible:-outline-offset-1 peer-focus-visible:outline-ring">
              {option.label}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
