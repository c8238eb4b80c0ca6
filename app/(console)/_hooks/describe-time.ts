/** Times and spans in words, as short as a list needs them. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `just now`, `5 min ago`, `3 h ago`, `yesterday`, then the date. A clock that is a little ahead counts as now. */
export function describeAge(date: string, now: number): string {
  const age = now - Date.parse(date);
  if (age < MINUTE) return "just now";
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min ago`;
  if (age < DAY) return `${Math.floor(age / HOUR)} h ago`;
  if (age < 2 * DAY) return "yesterday";
  if (age < 7 * DAY) return `${Math.floor(age / DAY)} days ago`;
  return new Date(date).toLocaleDateString(undefined, {
    day: "numeric",
    month: "short",
    year: "numeric",
  });
}

/** `640 ms`, `2.4 s`, `3 min 5 s`, `2 h 10 min`. */
export function describeSpan(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 10_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  if (milliseconds < MINUTE) return `${Math.floor(milliseconds / 1_000)} s`;
  const minutes = Math.floor(milliseconds / MINUTE);
  if (minutes < 60) return `${minutes} min ${Math.floor((milliseconds % MINUTE) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
