import type { z } from "zod";
import type { getUsageContract, usageReport } from "@/lib/usage/contract.ts";
import type { Answer } from "../../_api/request.ts";
import { useArtists, useKeys } from "../../_hooks/shared-reads.ts";
import { formatCompact, formatCount, formatDay, formatUsd } from "../../_ui/format.ts";
import { RUN_KIND_LABELS } from "../../runs/_state/run-state.ts";

export const GROUPS = [
  { value: "model", label: "Model" },
  { value: "api_key", label: "API key" },
  { value: "artist", label: "Artist" },
  { value: "kind", label: "Kind" },
  { value: "day", label: "Day" },
] as const;
export type Group = (typeof GROUPS)[number]["value"];

const KIND_LABELS: Readonly<Record<string, string>> = {
  ...RUN_KIND_LABELS,
  image: "Image",
  video: "Video",
};

export type Names = ReturnType<typeof useNames>;

/** Names the keys of a group, and finds its artists: both may be gone. */
export function useNames(group: Group) {
  const keys = useKeys(group === "api_key").data?.keys;
  const artists = useArtists(group === "artist");
  const artistOf = (key: string | null) => artists.find(({ account_id }) => account_id === key);
  const nameOf = (key: string | null): string => {
    switch (group) {
      case "day":
        return key === null ? "" : formatDay(key);
      case "kind":
        return KIND_LABELS[key ?? ""] ?? key ?? "";
      case "api_key":
        if (key === null) return "Console and bearer tokens";
        return keys?.find(({ id }) => id === key)?.key_name ?? "Revoked key";
      case "artist":
        if (key === null) return "No artist";
        return artistOf(key)?.name ?? "Former artist";
      case "model":
        return key ?? "";
    }
  };
  return { nameOf, artistOf };
}

export type Report = Answer<typeof getUsageContract>;
export type UsageItem = z.output<typeof usageReport>["items"][number];
export type Sums = Omit<UsageItem, "key" | "parts">;

export interface Metric {
  readonly value: "cost" | "tokens" | "runs" | "media";
  readonly label: string;
  readonly of: (sums: Sums) => number;
  readonly format: (amount: number) => string;
}

export const METRICS: readonly Metric[] = [
  { value: "cost", label: "Cost", of: (sums) => sums.cost_usd ?? 0, format: formatUsd },
  {
    value: "tokens",
    label: "Tokens",
    of: (sums) => sums.input_tokens + sums.output_tokens,
    format: formatCompact,
  },
  { value: "runs", label: "Runs", of: (sums) => sums.runs, format: formatCount },
  {
    value: "media",
    label: "Images and videos",
    of: (sums) => sums.images + sums.videos,
    format: formatCount,
  },
];

export const NO_USAGE: Sums = {
  runs: 0,
  steps: 0,
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
  unpriced_calls: 0,
  images: 0,
  videos: 0,
};

/** The period of the usage page. Days are in UTC, as in the API. */

export const RANGES = [
  { value: "month", label: "This month" },
  { value: "last-month", label: "Last month" },
  { value: "7d", label: "Last 7 days" },
  { value: "30d", label: "Last 30 days" },
  { value: "90d", label: "Last 90 days" },
  { value: "custom", label: "Custom" },
] as const;
type RangeName = (typeof RANGES)[number]["value"];

/** `YYYY-MM-DD`, the first day and the last. */
export type Days = Readonly<{ first: string; last: string }>;

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
