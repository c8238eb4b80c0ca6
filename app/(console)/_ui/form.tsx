import { type ComponentProps, type ReactNode, useId } from "react";
import { cn } from "./class-names.ts";
import { ChevronDown, Search } from "./icons.tsx";

type FormProps = Omit<ComponentProps<"form">, "onSubmit"> & { readonly onSubmit: () => unknown };

/** A form that is sent by a function. */
export const Form = ({ onSubmit, ...rest }: FormProps) => (
  <form
    {...rest}
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit();
    }}
  />
);

type FieldIds = Readonly<{ id: string; "aria-describedby"?: string; "aria-invalid"?: true }>;

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly className?: string | undefined;
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
}: FieldProps & { readonly children: (ids: FieldIds) => ReactNode }) {
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

export const controlStyle =
  "w-full rounded-md border border-input bg-surface px-3 text-base shadow-xs transition-colors disabled:opacity-55 aria-invalid:border-danger-text max-sm:text-[16px]";

/** The properties of a control that reports its new value. */
type ControlProps<E extends "input" | "textarea" | "select"> = Omit<
  ComponentProps<E>,
  "onChange"
> & { readonly onChange?: (value: string) => void };

export const Input = ({ className, onChange, ...rest }: ControlProps<"input">) => (
  <input
    {...rest}
    onChange={onChange && ((event) => onChange(event.target.value))}
    className={cn(controlStyle, "h-9", className)}
  />
);

export const Textarea = ({ className, onChange, ...rest }: ControlProps<"textarea">) => (
  <textarea
    rows={4}
    {...rest}
    onChange={onChange && ((event) => onChange(event.target.value))}
    className={cn(controlStyle, "py-2", className)}
  />
);

type SelectProps = ControlProps<"select"> & {
  /** After the children, which are options as well. */
  readonly options?: readonly { readonly value: string | number; readonly label: string }[];
};

/** A native select, which works best on phones and with screen readers and needs no script. */
export const Select = ({ className, onChange, options = [], children, ...rest }: SelectProps) => (
  <span className={cn("relative block", className)}>
    <select
      {...rest}
      onChange={onChange && ((event) => onChange(event.target.value))}
      className={cn(controlStyle, "h-9 appearance-none pr-9")}
    >
      {children}
      {options.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
    <ChevronDown
      aria-hidden
      className="pointer-events-none absolute top-1/2 right-3 size-4 -translate-y-1/2 text-muted-foreground"
    />
  </span>
);

type InField<P> = FieldProps & Omit<P, keyof FieldProps | keyof FieldIds>;

/** Returns a component that shows a control in a `Field`, which has the class. */
export const inField =
  <P extends object>(Control: (props: P) => ReactNode) =>
  ({ label, hint, error, className, ...rest }: InField<P>) => (
    <Field {...{ label, hint, error, className }}>
      {(ids) => <Control {...ids} {...(rest as unknown as P)} />}
    </Field>
  );

export const TextField = inField(Input);
export const TextareaField = inField(Textarea);
export const SelectField = inField(Select);

/** The options of a select of IANA time zones: all that the browser knows, and the chosen one. */
export function timeZoneOptions(chosen: string): { value: string; label: string }[] {
  const zones = new Set(["UTC", ...Intl.supportedValuesOf("timeZone"), chosen || "UTC"]);
  return [...zones].map((value) => ({ value, label: value.replaceAll("_", " ") }));
}

/** A search field with its icon. `label` is for screen readers. */
export const SearchInput = ({
  label,
  className,
  ...rest
}: ControlProps<"input"> & { readonly label: string }) => (
  <div className={cn("relative w-full", className)}>
    <Search
      aria-hidden
      className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted-foreground"
    />
    <Input type="search" aria-label={label} {...rest} className="pl-9" />
  </div>
);

interface SwitchProps {
  readonly label: string;
  readonly hideLabel?: boolean;
  readonly hint?: ReactNode;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

/** A switch with its label on the left and an optional hint below. */
export function Switch({ label, hideLabel = false, hint, checked, onChange }: SwitchProps) {
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

/** A choice between a few short options, all of them visible. */
export function Segmented<T extends string>({
  label,
  hideLabel = false,
  options,
  value,
  onChange,
}: {
  readonly label: string;
  readonly hideLabel?: boolean;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}) {
  const name = useId();
  return (
    <fieldset className="min-w-0">
      <legend className={hideLabel ? "sr-only" : "mb-1.5 text-sm font-medium"}>{label}</legend>
      <div className="flex w-fit max-w-full gap-0.5 overflow-x-auto overflow-y-hidden rounded-lg [scrollbar-width:none] bg-muted p-0.5">
        {options.map((option) => (
          <label key={option.value} className="relative shrink-0 cursor-pointer">
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
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
