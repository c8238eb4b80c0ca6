/**
 * Reads the entries of a catalog file, one per track: CSV with a header line, or JSON lines (`.jsonl`,
 * `.ndjson`), with the columns or keys of `entry` below. In CSV, an empty field counts as absent and
 * `;` separates the items of a list.
 */

import { describeIssue } from "@platform/endpoint/contract/describe-issue";
import { z } from "zod";
import { markets } from "../../lib/catalog/markets.ts";

const name = z.string().trim().min(1).max(500);
const id = z.string().regex(/^[A-Za-z0-9]{1,64}$/, {
  error: (issue) => `${String(issue.path?.[0])} must be 1 to 64 letters and digits`,
});
const integer = (min: number, max: number) =>
  z
    .union([z.number(), z.string().regex(/^\d+$/).transform(Number)], {
      error: (issue) => `${String(issue.path?.[0])} must be a whole number`,
    })
    .pipe(z.int().min(min).max(max));
const flag = z.union(
  [z.boolean(), z.enum(["true", "false"]).transform((value) => value === "true")],
  { error: (issue) => `${String(issue.path?.[0])} must be true or false` },
);
const list = z.union([
  z.array(name),
  z.string().transform((text) =>
    text
      .split(";")
      .map((item) => item.trim())
      .filter(Boolean),
  ),
]);
const isDate = (text: string): boolean => {
  const [year = "", month = "01", day = "01"] = text.split("-");
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return (
    /^\d{4}(-\d\d(-\d\d)?)?$/.test(text) &&
    !Number.isNaN(date.getTime()) &&
    date.toISOString().startsWith(`${year}-${month}-${day}`)
  );
};

const entry = z.strictObject({
  artist: name,
  artist_id: id.optional(),
  artist_genres: list.optional(),
  artist_popularity: integer(0, 100).optional(),
  artist_followers: integer(0, 2_147_483_647).optional(),
  artist_image: z.url().optional(),
  artist_url: z.url().optional(),
  /** Names of featured artists. */
  featured: list.optional(),
  album: name,
  album_id: id.optional(),
  /** Default: `album`. */
  album_type: z.enum(["album", "single", "compilation"]).optional(),
  release_date: z.string().refine(isDate, {
    error: "release_date must be a date such as 2024, 2024-05 or 2024-05-31",
  }),
  /** ISO 3166-1 alpha-2 codes. Default: every country. */
  markets: list
    .refine((codes) => codes.every((code) => markets.includes(code)), {
      error: "markets must be ISO 3166-1 alpha-2 country codes",
    })
    .optional(),
  album_image: z.url().optional(),
  album_url: z.url().optional(),
  title: name,
  track_id: id.optional(),
  /** Default: the next number on the disc. */
  track_number: integer(1, 10_000).optional(),
  /** Default: 1. */
  disc_number: integer(1, 1_000).optional(),
  duration_ms: integer(0, 2_147_483_647).optional(),
  explicit: flag.optional(),
  isrc: z
    .string()
    .transform((text) => text.replaceAll("-", "").toUpperCase())
    .refine((text) => /^[A-Z]{2}[A-Z0-9]{3}\d{7}$/.test(text), {
      error: "isrc must be a code such as QZABC2600001",
    })
    .optional(),
  popularity: integer(0, 100).optional(),
  track_url: z.url().optional(),
});
export type Entry = z.output<typeof entry> & { readonly line: number };

export const columns: readonly string[] = Object.keys(entry.shape);

/** All entries, or every fault with its line. */
export type ReadResult =
  | { readonly entries: readonly Entry[] }
  | { readonly faults: readonly string[] };

interface RawEntry {
  readonly line: number;
  readonly value: unknown;
}

export function readEntries(text: string, format: "csv" | "jsonl"): ReadResult {
  const clean = text.replace(/^\uFEFF/, "");
  const faults: string[] = [];
  const entries: Entry[] = [];
  const raw = format === "csv" ? readCsvEntries(clean, faults) : readJsonEntries(clean, faults);
  for (const { line, value } of raw) {
    const parsed = entry.safeParse(value, { error: describeIssue });
    if (parsed.success) entries.push({ ...parsed.data, line });
    else faults.push(...parsed.error.issues.map(({ message }) => `line ${line}: ${message}`));
  }
  if (faults.length === 0 && entries.length === 0) faults.push("The file has no entries");
  return faults.length > 0 ? { faults } : { entries };
}

function readCsvEntries(text: string, faults: string[]): RawEntry[] {
  try {
    const [header, ...lines] = readCsv(text);
    if (!header) return [];
    const unknown = header.fields.filter((column) => !columns.includes(column));
    const repeated = header.fields.filter((column, at) => header.fields.indexOf(column) !== at);
    const known = `Known columns: ${columns.join(", ")}`;
    for (const column of unknown) faults.push(`line 1: unknown column "${column}". ${known}`);
    for (const column of repeated) faults.push(`line 1: column "${column}" appears twice`);
    if (faults.length > 0) return [];
    return lines.flatMap(({ line, fields }) => {
      if (fields.length !== header.fields.length) {
        faults.push(
          `line ${line}: ${fields.length} fields, but the header has ${header.fields.length}`,
        );
        return [];
      }
      const pairs = header.fields.map((column, at) => [column, fields[at] ?? ""]);
      return [{ line, value: Object.fromEntries(pairs.filter(([, field]) => field !== "")) }];
    });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    faults.push(error.message);
    return [];
  }
}

function readJsonEntries(text: string, faults: string[]): RawEntry[] {
  return text.split(/\r?\n/).flatMap((content, index) => {
    if (content.trim() === "") return [];
    const line = index + 1;
    try {
      const value: unknown = JSON.parse(content);
      return [{ line, value }];
    } catch {
      faults.push(`line ${line}: not a JSON object`);
      return [];
    }
  });
}

interface CsvLine {
  /** The line on which the record starts, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

/**
 * Returns the records of a CSV text (RFC 4180), without empty lines. @throws SyntaxError with the line of a
 * misplaced quote
 */
function readCsv(text: string): CsvLine[] {
  // A field and its terminator: a comma, a line break or the end of the text.
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\r|$)/y;
  const lines: CsvLine[] = [];
  let fields: string[] = [];
  let line = 1;
  let start = 1;
  while (field.lastIndex < text.length) {
    const at = field.lastIndex;
    const match = field.exec(text);
    if (!match) {
      const open = text[at] === '"';
      throw new SyntaxError(
        `line ${line}: ${open ? "a quoted field is not closed properly" : "a field that is not quoted contains a quote"}`,
      );
    }
    const [whole, quoted, plain = "", end] = match;
    fields.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'));
    line += whole.match(/\r\n|\n|\r/g)?.length ?? 0;
    if (end === ",") {
      // A comma at the end of the text is followed by one more, empty field.
      if (field.lastIndex === text.length) fields.push("");
      else continue;
    }
    if (fields.some((value) => value !== "")) lines.push({ line: start, fields });
    fields = [];
    start = line;
  }
  return lines;
}
