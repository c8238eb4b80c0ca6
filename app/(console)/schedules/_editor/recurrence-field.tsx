import { cn } from "@/app/(console)/_ui/class-names.ts";
import {
  DAY_NAMES,
  type Recurrence,
  type RecurrenceKind,
  toCron,
} from "@/app/(console)/schedules/_state/recurrence.ts";
import { Field } from "../../_ui/field.tsx";
import { Input } from "../../_ui/input.tsx";
import { Select } from "../../_ui/select.tsx";

const KINDS: readonly (readonly [RecurrenceKind, string])[] = [
  ["daily", "Every day"],
  ["weekdays", "Every weekday (Mon to Fri)"],
  ["weekly", "Weekly"],
  ["monthly", "Monthly"],
  ["hourly", "Every hour"],
  ["custom", "Custom (cron expression)"],
];
/** Days that every month has. */
const MONTH_DAYS = Array.from({ length: 28 }, (_, index) => String(index + 1));
const DEFAULT_TIME = "09:00";

/** Converts a recurrence to another kind, and keeps the time. */
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

/** Chooses when a schedule fires, by presets or as a cron expression. */
export function RecurrenceField({
  value,
  onChange,
  error,
}: {
  readonly value: Recurrence;
  readonly onChange: (value: Recurrence) => void;
  readonly error?: string | undefined;
}) {
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Repeat" error={value.kind === "custom" ? undefined : error}>
          {(ids) => (
            <Select
              {...ids}
              value={value.kind}
              onChange={(event) => {
                const kind = KINDS.find(([one]) => one === event.target.value)?.[0];
                if (kind !== undefined) onChange(changeKind(value, kind));
              }}
            >
              {KINDS.map(([kind, label]) => (
                <option key={kind} value={kind}>
                  {label}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {"time" in value && (
          <Field label="At">
            {(ids) => (
              <Input
                {...ids}
                type="time"
                required
                value={value.time}
                onChange={(event) => onChange({ ...value, time: event.target.value })}
              />
            )}
          </Field>
        )}
        {value.kind === "hourly" && (
          <Field label="Minute">
            {(ids) => (
              <Select
                {...ids}
                value={value.minute}
                onChange={(event) => onChange({ ...value, minute: Number(event.target.value) })}
              >
                {Array.from({ length: 60 }, (_, minute) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the index is the minute
                  <option key={minute} value={minute}>
                    {`:${String(minute).padStart(2, "0")}`}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        )}
      </div>
      {value.kind === "weekly" && (
        <Days days={value.days} onChange={(days) => onChange({ ...value, days })} />
      )}
      {value.kind === "monthly" && (
        <Field label="Day of the month">
          {(ids) => (
            <Select
              {...ids}
              value={value.day}
              onChange={(event) => onChange({ ...value, day: event.target.value })}
            >
              {[...new Set([...MONTH_DAYS, ...(value.day === "L" ? [] : [value.day])])].map(
                (day) => (
                  <option key={day} value={day}>
                    {day}
                  </option>
                ),
              )}
              <option value="L">Last day</option>
            </Select>
          )}
        </Field>
      )}
      {value.kind === "custom" && (
        <Field
          label="Cron expression"
          hint="Five fields: minute, hour, day of the month, month, day of the week. For example 0 9 * * MON."
          error={error}
        >
          {(ids) => (
            <Input
              {...ids}
              className="font-mono"
              spellCheck={false}
              autoCapitalize="none"
              value={value.cron}
              onChange={(event) => onChange({ ...value, cron: event.target.value })}
            />
          )}
        </Field>
      )}
    </div>
  );
}

/** From Monday to Sunday. */
const WEEK = [1, 2, 3, 4, 5, 6, 0];

function Days({
  days,
  onChange,
}: {
  readonly days: readonly number[];
  readonly onChange: (days: readonly number[]) => void;
}) {
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1.5 text-sm font-medium">On</legend>
      <div className="grid max-w-84 grid-cols-7 gap-1.5">
        {WEEK.map((day) => {
          const name = DAY_NAMES[day] ?? "";
          const isChosen = days.includes(day);
          return (
            <label
              key={day}
              className={cn(
                "relative grid h-8 cursor-pointer place-items-center rounded-md border text-sm font-medium focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent-text",
                isChosen
                  ? "border-accent bg-accent-soft text-accent-text"
                  : "border-input text-muted-foreground hover:bg-muted",
              )}
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
}
