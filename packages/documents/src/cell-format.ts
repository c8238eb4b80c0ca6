/** Shows the numbers of spreadsheets. The kind of a number depends on its format alone (ECMA-376, part 1, 18.8.31). */
import { SSF } from "@e965/xlsx";

type Kind = "number" | "date" | "hours" | "minutes" | "identifier";

const DAY_MS = 86_400_000;
/** Excel takes 1900 for a leap year. */
const FIRST_RIGHT_DAY = 60;
const LAST_DAY = 2_958_465;
const DAYS_TO_1904 = 1_462;
const MAX_FORMAT_CHARS = 255;

const kinds = new Map<string, Kind>();

/**
 * Returns a number as text: an ISO date, a duration such as `3:45` or `27:01:05`, an identifier with the zeros that
 * its format adds, or the plain number.
 */
export function formatNumber(value: number, format: unknown, is1904 = false): string {
  if (typeof format !== "string" || format.length > MAX_FORMAT_CHARS) return String(value);
  const kind = kinds.get(format) ?? kindOf(format);
  kinds.set(format, kind);
  if (kind === "identifier" && Number.isSafeInteger(value) && value >= 0) {
    return SSF.format(format, value).trim();
  }
  if (kind === "hours" || kind === "minutes") return durationOf(value, kind, format);
  const day = kind === "date" && is1904 ? value + DAYS_TO_1904 : value;
  if (kind !== "date" || day < 0 || day > LAST_DAY + 1) return String(value);
  if (day < 1) return durationOf(value, "hours", format);
  const shift = day < FIRST_RIGHT_DAY ? 1 : 0;
  const ms = Date.UTC(1899, 11, 30 + shift) + Math.round(day * 86_400) * 1_000;
  return new Date(ms).toISOString().slice(0, ms % DAY_MS === 0 ? 10 : 19);
}

function kindOf(format: string): Kind {
  // Without literal texts, colors and conditions, and of the section for positive numbers only.
  const [pattern = ""] = format
    .replace(/"[^"]*"|[\\_*].|\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi, (part) =>
      /^\\[-\s/().+]$/.test(part) ? part.slice(1) : "",
    )
    .toLowerCase()
    .split(";");
  if (/^[-\s/()+0]*$/.test(pattern)) return /0.*0/.test(pattern) ? "identifier" : "number";
  if (/general/.test(pattern)) return "number";
  const isElapsed = /\[(?:h+|m+|s+)\]/.test(pattern);
  if (/h/.test(pattern) && (isElapsed || !/[yd]/.test(pattern))) return "hours";
  if (isElapsed || (/s/.test(pattern) && !/[yd]/.test(pattern))) return "minutes";
  return /[ymd]/.test(pattern) ? "date" : "number";
}

/** The time of a day has the same form. A duration keeps the seconds that its format does not show. */
function durationOf(days: number, kind: Kind, format: string): string {
  const ms = Math.round(Math.abs(days) * DAY_MS);
  const fraction = String((ms % 1_000) / 1_000).slice(1);
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60];
  const seconds = String(Math.floor(ms / 1_000) % 60).padStart(2, "0") + fraction;
  const sign = days < 0 ? "-" : "";
  if (kind === "minutes" && (hours === 0 || /\[m+\]/i.test(format))) {
    return `${sign}${hours * 60 + minutes}:${seconds}`;
  }
  const showsSeconds = /s/i.test(format) || seconds !== "00";
  return `${sign}${hours}:${String(minutes).padStart(2, "0")}${showsSeconds ? `:${seconds}` : ""}`;
}
