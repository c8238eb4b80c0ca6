/** Schedules as people say them, and the cron expressions that the API takes. */

/** `HH:MM`, as a time input has it. */
type Time = string;

export type Recurrence =
  | { readonly kind: "hourly"; readonly minute: number }
  | { readonly kind: "daily"; readonly time: Time }
  | { readonly kind: "weekdays"; readonly time: Time }
  /** `days` from 0 for Sunday to 6. */
  | { readonly kind: "weekly"; readonly days: readonly number[]; readonly time: Time }
  /** `day` from 1 to 31, or `L` for the last day. */
  | { readonly kind: "monthly"; readonly day: string; readonly time: Time }
  | { readonly kind: "custom"; readonly cron: string };
export type RecurrenceKind = Recurrence["kind"];

export const DAY_NAMES = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
] as const;
const DAY_CODES = DAY_NAMES.map((name) => name.slice(0, 3).toUpperCase());

/** Returns the cron expression; null while something is missing. */
export function toCron(recurrence: Recurrence): string | null {
  if (recurrence.kind === "custom") return recurrence.cron.trim() || null;
  if (recurrence.kind === "hourly") return `${recurrence.minute} * * * *`;
  const [, hours, minutes] = /^(\d\d):(\d\d)/.exec(recurrence.time) ?? [];
  if (hours === undefined || minutes === undefined) return null;
  const at = `${Number(minutes)} ${Number(hours)}`;
  switch (recurrence.kind) {
    case "daily":
      return `${at} * * *`;
    case "weekdays":
      return `${at} * * MON-FRI`;
    case "weekly": {
      const days = recurrence.days.toSorted().map((day) => DAY_CODES[day]);
      return days.length === 0 ? null : `${at} * * ${days.join(",")}`;
    }
    case "monthly":
      return `${at} ${recurrence.day} * *`;
  }
}

/** Returns the recurrence of a cron expression; `custom` for one that has no simpler form. */
export function fromCron(cron: string): Recurrence {
  const custom = { kind: "custom", cron } as const;
  const [minute = "", hour = "", day = "", month = "", weekday = "", ...rest] = cron
    .trim()
    .split(/\s+/);
  if (rest.length > 0 || month !== "*" || !isNumber(minute, 0, 59)) return custom;
  if (hour === "*") {
    return day === "*" && weekday === "*" ? { kind: "hourly", minute: Number(minute) } : custom;
  }
  if (!isNumber(hour, 0, 23)) return custom;
  const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  if (weekday === "*") {
    if (day === "*") return { kind: "daily", time };
    if (day === "L" || isNumber(day, 1, 31)) return { kind: "monthly", day, time };
    return custom;
  }
  if (day !== "*") return custom;
  if (/^(MON-FRI|1-5)$/i.test(weekday)) return { kind: "weekdays", time };
  const days = weekday.split(",").map(dayOf);
  return days.every((one) => one !== null) ? { kind: "weekly", days, time } : custom;
}

const isNumber = (text: string, min: number, max: number): boolean =>
  /^\d{1,2}$/.test(text) && Number(text) >= min && Number(text) <= max;

function dayOf(text: string): number | null {
  if (isNumber(text, 0, 7)) return Number(text) % 7;
  const place = DAY_CODES.indexOf(text.toUpperCase());
  return place < 0 ? null : place;
}

/** Returns, for example, `Every Monday and Friday at 9:00 AM`. */
export function describeCron(cron: string): string {
  const recurrence = fromCron(cron);
  switch (recurrence.kind) {
    case "hourly":
      return recurrence.minute === 0
        ? "Every hour"
        : `Every hour at :${String(recurrence.minute).padStart(2, "0")}`;
    case "daily":
      return `Every day at ${clockTime(recurrence.time)}`;
    case "weekdays":
      return `Every weekday at ${clockTime(recurrence.time)}`;
    case "weekly": {
      const days = recurrence.days.toSorted().map((day) => DAY_NAMES[day] ?? "");
      return `Every ${listFormat.format(days)} at ${clockTime(recurrence.time)}`;
    }
    case "monthly":
      return recurrence.day === "L"
        ? `On the last day of every month at ${clockTime(recurrence.time)}`
        : `On day ${recurrence.day} of every month at ${clockTime(recurrence.time)}`;
    case "custom":
      return `Cron: ${cron}`;
  }
}

const listFormat = new Intl.ListFormat("en");
const clockFormat = new Intl.DateTimeFormat("en", { timeStyle: "short", timeZone: "UTC" });
const clockTime = (time: Time): string => clockFormat.format(new Date(`2000-01-01T${time}:00Z`));
