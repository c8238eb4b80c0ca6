/** The one format of amounts, sizes, dates, times and durations in the console. */

/**
 * Returns a function that makes a value at its first call and returns the same one ever after. A format of
 * `Intl` takes so long to make that a module must not do it while its page is loading.
 */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const compactFormat = lazily(
  () => new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }),
);
const fullFormat = lazily(() => new Intl.NumberFormat("en"));

/** Returns, for example, `940`, `12.3K` or `1.2M`. */
export const formatCompact = (count: number): string => compactFormat().format(count);

/** Returns, for example, `12,345`. */
export const formatCount = (count: number): string => fullFormat().format(count);

/** Returns, for example, `$12.30`, `$0.0042` or `<$0.0001`; `Unknown` for null. */
export function formatUsd(usd: number | null): string {
  if (usd === null) return "Unknown";
  if (usd === 0 || usd >= 0.1)
    return `$${fullFormat()
      .format(Number(usd.toFixed(2)))
      .replace(/(\.\d)$/, "$10")}`;
  if (usd < 0.0001) return "<$0.0001";
  return `$${usd.toFixed(4)}`;
}

type Costs = Readonly<{ cost_usd: number | null; unpriced_calls: number }>;

/** Returns, for example, `$12.30`, `Unknown`, or `$12.30 + unknown` where only some calls have a price. */
export const formatCost = ({ cost_usd, unpriced_calls }: Costs): string =>
  formatUsd(cost_usd) + (cost_usd !== null && unpriced_calls > 0 ? " + unknown" : "");

const dateFormat = lazily(() => new Intl.DateTimeFormat("en", { dateStyle: "medium" }));
const dateTimeFormat = lazily(
  () => new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" }),
);

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Returns, for example, `Nov 21, 2026`. */
export const formatDate = (date: string): string => dateFormat().format(new Date(date));

/** Returns, for example, `Nov 21, 2026, 4:05 PM`. */
export const formatDateTime = (date: string): string => dateTimeFormat().format(new Date(date));

/** Returns `just now`, `5 min ago`, `3 h ago`, `yesterday`, `4 days ago`, or the date after a week. */
export function formatAge(date: string, now: number): string {
  const age = now - Date.parse(date);
  if (age < MINUTE_MS) return "just now";
  if (age < HOUR_MS) return `${Math.floor(age / MINUTE_MS)} min ago`;
  if (age < DAY_MS) return `${Math.floor(age / HOUR_MS)} h ago`;
  if (age < 2 * DAY_MS) return "yesterday";
  if (age < 7 * DAY_MS) return `${Math.floor(age / DAY_MS)} days ago`;
  return formatDate(date);
}

/** Returns, for example, `640 ms`, `2.4 s`, `3 min 5 s` or `2 h 10 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < MINUTE_MS) return `${Math.floor(ms / 1_000)} s`;
  const minutes = Math.floor(ms / MINUTE_MS);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % MINUTE_MS) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Returns `now`, `in 5 min`, `in 3 h`, `in 4 days`, or the date after a week. */
export function formatUntil(date: string, now: number): string {
  const wait = Date.parse(date) - now;
  if (wait < MINUTE_MS) return "now";
  if (wait < HOUR_MS) return `in ${Math.floor(wait / MINUTE_MS)} min`;
  if (wait < 2 * DAY_MS) return `in ${Math.floor(wait / HOUR_MS)} h`;
  if (wait < 7 * DAY_MS) return `in ${Math.floor(wait / DAY_MS)} days`;
  return `on ${formatDate(date)}`;
}

/** Returns, for example, `Mon, Nov 23, 9:00 AM GMT+1` by the clocks of a time zone. */
export const formatInZone = (date: Date, timeZone: string): string =>
  new Intl.DateTimeFormat("en", {
    timeZone,
    weekday: "short",
    month: "short",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    timeZoneName: "short",
  }).format(date);

const dayFormat = lazily(
  () => new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" }),
);

/** Returns, for example, `Nov 21, 2026` for the day `2026-11-21`, wherever the reader is. */
export const formatDay = (day: string): string => dayFormat().format(new Date(`${day}T00:00:00Z`));

const units = ["B", "KiB", "MiB", "GiB"] as const;

/** Formats a size, such as `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const value = bytes / 1024 ** step;
  return `${value.toLocaleString("en", { maximumFractionDigits: step === 0 ? 0 : 1 })} ${units[step]}`;
}

const roundedFormat = lazily(() => new Intl.NumberFormat("en", { notation: "compact" }));

/** Formats a number of tokens, such as `8.2K`, `200K` or `1M`. */
export const formatTokens = (tokens: number): string => roundedFormat().format(tokens);
