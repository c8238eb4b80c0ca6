/** The time that the page of usage is about. Days are those of UTC, as the API counts them. */

export const RANGES = [
  { value: "month", label: "This month" },
  { value: "last-month", label: "Last month" },
  { value: "7d", label: "Last 7 days" },
  { value: "30d", label: "Last 30 days" },
  { value: "90d", label: "Last 90 days" },
  { value: "custom", label: "Custom" },
] as const;
export type RangeName = (typeof RANGES)[number]["value"];

/** `YYYY-MM-DD`, the first day and the last. */
export interface Days {
  readonly first: string;
  readonly last: string;
}

const DAY_MS = 86_400_000;
const MAX_DAYS = 400;
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
const isDay = (text: string | null): text is string =>
  text !== null && /^20\d\d-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

/** Returns the range of an address; this month when it has none. */
export function readRange(query: URLSearchParams, now: number): { name: RangeName; days: Days } {
  const name = RANGES.find(({ value }) => value === query.get("range"))?.value ?? "month";
  const [from, to] = [query.get("from"), query.get("to")];
  if (name === "custom" && isDay(from) && isDay(to) && from <= to) {
    return { name, days: { first: from, last: to } };
  }
  return { name, days: daysOf(name, now) };
}

function daysOf(name: RangeName, now: number): Days {
  const today = dayOf(now);
  const monthStart = `${today.slice(0, 7)}-01`;
  switch (name) {
    case "last-month": {
      const last = dayOf(Date.parse(monthStart) - DAY_MS);
      return { first: `${last.slice(0, 7)}-01`, last };
    }
    case "7d":
    case "30d":
    case "90d":
      return { first: dayOf(now - (Number.parseInt(name, 10) - 1) * DAY_MS), last: today };
    default:
      return { first: monthStart, last: today };
  }
}

/** Returns the path of a report. */
export function usagePath({ first, last }: Days, groups: Readonly<Record<string, string>>): string {
  const to = new Date(Date.parse(last) + DAY_MS).toISOString();
  const query = new URLSearchParams({ from: `${first}T00:00:00Z`, to, ...groups });
  return `/api/usage?${query}`;
}

/** Returns each day of a range, at most the last 400. */
export function eachDay({ first, last }: Days): string[] {
  const end = Date.parse(last);
  const start = Math.max(Date.parse(first), end - (MAX_DAYS - 1) * DAY_MS);
  const days: string[] = [];
  for (let time = start; time <= end; time += DAY_MS) days.push(dayOf(time));
  return days;
}
