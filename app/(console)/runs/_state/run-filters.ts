/** The filters of the list of runs, which are in the address so that a view can be linked to. */
import { RUN_KIND_LABELS } from "./run-state.ts";

export const STATUS_OPTIONS = [
  { value: "", label: "All" },
  { value: "running", label: "Running" },
  { value: "requires_action", label: "Needs action" },
  { value: "completed", label: "Completed" },
  { value: "failed", label: "Failed" },
  { value: "cancelled", label: "Cancelled" },
] as const;

export const KIND_OPTIONS = Object.entries(RUN_KIND_LABELS).map(([value, label]) => ({
  value,
  label,
}));

const HOUR_MS = 3_600_000;
export const SINCE_OPTIONS = [
  { value: "1h", label: "Last hour", ms: HOUR_MS },
  { value: "24h", label: "Last 24 hours", ms: 24 * HOUR_MS },
  { value: "7d", label: "Last 7 days", ms: 7 * 24 * HOUR_MS },
  { value: "30d", label: "Last 30 days", ms: 30 * 24 * HOUR_MS },
] as const;

export interface RunFilters {
  readonly status: string;
  readonly kind: string;
  readonly artist: string;
  readonly chat: string;
  readonly since: string;
  readonly skill: string;
  /** The run with which a chosen one is compared. */
  readonly compare: string;
}

const known = (value: string | null, options: readonly { readonly value: string }[]): string =>
  options.some((option) => option.value === value) ? (value ?? "") : "";
const uuid = (value: string | null): string =>
  value !== null && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value) ? value : "";

/** Returns the filters of an address. What it does not know is no filter. */
export const readFilters = (query: URLSearchParams): RunFilters => ({
  status: known(query.get("status"), STATUS_OPTIONS),
  kind: known(query.get("kind"), KIND_OPTIONS),
  artist: uuid(query.get("artist")),
  chat: uuid(query.get("chat")),
  since: known(query.get("since"), SINCE_OPTIONS),
  skill: query.get("skill") ?? "",
  compare: query.get("compare") ?? "",
});

export const hasFilters = (filters: RunFilters): boolean =>
  Object.values(filters).some((value) => value !== "");

/** Returns the path of the list. @param now of the relative time, in milliseconds */
export function runsPath(
  { status, kind, artist, chat, since, skill }: RunFilters,
  now: number,
): string {
  const span = SINCE_OPTIONS.find(({ value }) => value === since)?.ms;
  const query = new URLSearchParams({
    ...(status && { status }),
    ...(kind && { kind }),
    ...(artist && { artist_id: artist }),
    ...(chat && { chat_id: chat }),
    ...(skill && { skill }),
    ...(span && { since: new Date(now - span).toISOString() }),
  });
  return `/api/chat/runs${query.size === 0 ? "" : `?${query}`}`;
}
