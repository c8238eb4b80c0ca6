import { SelectField, TextField } from "../../_ui/form.tsx";
import { DAY_NAMES, type Recurrence, type RecurrenceKind, toCron } from "../_state/recurrence.ts";

const KINDS: readonly { value: RecurrenceKind; label: string }[] = [
  { value: "daily", label: "Every day" },
  { value: "weekdays", label: "Every weekday (Mon to Fri)" },
  { value: "weekly", label: "Weekly" },
  { value: "monthly", label: "Monthly" },
  { value: "hourly", label: "Every hour" },
  { value: "custom", label: "Custom (cron expression)" },
];
const MINUTES = Array.from({ length: 60 }, (_, value) => ({
  ...{ value, label: `:${String(value).padStart(2, "0")}` },
}));
const MONTH_DAYS = Array.from({ length: 28 }, (_, index) => String(index + 1));
const DEFAULT_TIME = "09:00";

function changeKind(from: Recurrence, kind: RecurrenceKind): Recurrence {
  const time = "time" in from ? from.time : DEFAULT_TIME;
  switch (kind) {
    case "hourly":
      return { kind, minute: 0 };
    case "weekly":
      return { kind, days: [1], time };
    case "monthly":
      return { kind, day: "1", time };
    case "custom":
      return { kind, cron: toCron(from) ?? "" };
    default:
      return { kind, time };
  }
}

interface RecurrenceFieldProps {
  readonly value: Recurrence;
  readonly onChange: (value: Recurrence) => void;
  readonly error?: string | undefined;
}

/** Chooses when a schedule fires, by presets or as a cron expression. */
export const RecurrenceField = ({ value, onChange, error }: RecurrenceFieldProps) => (
  <div className="flex flex-col gap-4">
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label="Repeat"
        error={value.kind === "custom" ? undefined : error}
        options={KINDS}
        value={value.kind}
        onChange={(next) => {
          const kind = KINDS.find((one) => one.value === next)?.value;
          if (kind !== undefined) onChange(changeKind(value, kind));
        }}
      />
      {"time" in value && (
        <TextField
          label="At"
          type="time"
          required
          value={value.time}
          onChange={(time) => onChange({ ...value, time })}
        />
      )}
      {value.kind === "hourly" && (
        <SelectField
          label="Minute"
          options={MINUTES}
          value={value.minute}
          onChange={(minute) => onChange({ ...value, minute: Number(minute) })}
        />
      )}
    </div>
    {value.kind === "weekly" && (
      <Days days={value.days} onChange={(days) => onChange({ ...value, days })} />
    )}
    {value.kind === "monthly" && (
      <SelectField
        label="Day of the month"
        options={[...new Set([...MONTH_DAYS, value.day, "L"])].map((day) => ({
          ...{ value: day, label: day === "L" ? "Last day" : day },
        }))}
        value={value.day}
        onChange={(day) => onChange({ ...value, day })}
      />
    )}
    {value.kind === "custom" && (
      <TextField
        label="Cron expression"
        hint="Five fields: minute, hour, day of the month, month, day of the week. For example 0 9 * * MON."
        error={error}
        className="[&_input]:font-mono"
        spellCheck={false}
        autoCapitalize="none"
        value={value.cron}
        onChange={(cron) => onChange({ ...value, cron })}
      />
    )}
  </div>
);

const WEEK = [1, 2, 3, 4, 5, 6, 0];

type DaysProps = Readonly<{ days: readonly number[]; onChange: (days: readonly number[]) => void }>;

const Days = ({ days, onChange }: DaysProps) => (
  <fieldset className="min-w-0">
    <legend className="mb-1.5 text-sm font-medium">On</legend>
    <div className="grid max-w-84 grid-cols-7 gap-1.5">
      {WEEK.map((day) => {
        const name = DAY_NAMES[day] ?? "";
        const isChosen = days.includes(day);
        return (
          <label
            key={day}
            className="relative grid h-8 cursor-pointer place-items-center rounded-md border border-input text-sm font-medium text-muted-foreground focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent-text hover:bg-muted has-checked:border-accent has-checked:bg-accent-soft has-checked:text-accent-text"
          >
            <input
              type="checkbox"
              aria-label={name}
              checked={isChosen}
              onChange={() =>
                onChange(isChosen ? days.filter((one) => one !== day) : [...days, day])
              }
              className="absolute inset-0 cursor-pointer appearance-none outline-none"
            />
            <span aria-hidden>{name.slice(0, 3)}</span>
          </label>
        );
      })}
    </div>
  </fieldset>
);
