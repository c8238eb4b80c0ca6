/** How `sqlite3` prints rows, like the original program. */
import type { SqlValue } from "sql.js";

export const MODES = [
  ...["list", "csv", "tabs", "json", "line"],
  ...["column", "table", "box", "markdown"],
] as const;

export interface Format {
  mode: string;
  /** Undefined for the mode's default. */
  header: boolean | undefined;
  separator: string;
  nullValue: string;
}

/** Formats the rows of one statement. Modes with aligned columns keep all rows until the end. */
export function* formatRows(
  columns: readonly string[],
  rows: Iterable<readonly SqlValue[]>,
  format: Format,
): Generator<string> {
  const texts = (row: readonly SqlValue[]) => row.map((value) => textOf(value, format.nullValue));
  if (format.mode === "json") yield* jsonLines(columns, rows);
  else if (format.mode === "line") yield* blocks(columns, rows, texts);
  else if (format.mode in GRIDS) yield* grid(columns, Array.from(rows, texts), format);
  else yield* separated(columns, rows, texts, format);
}

type Texts = (row: readonly SqlValue[]) => string[];

function* separated(
  columns: readonly string[],
  rows: Iterable<readonly SqlValue[]>,
  texts: Texts,
  { mode, header, separator }: Format,
): Generator<string> {
  const between = mode === "tabs" ? "\t" : mode === "csv" ? "," : separator;
  const quote = (text: string) =>
    mode === "csv" && (text.includes(between) || /["'\s]/.test(text))
      ? `"${text.replaceAll('"', '""')}"`
      : text;
  const line = (cells: readonly string[]) => `${cells.map(quote).join(between)}\n`;
  if (header) yield line(columns);
  for (const row of rows) yield line(texts(row));
}

function* jsonLines(
  columns: readonly string[],
  rows: Iterable<readonly SqlValue[]>,
): Generator<string> {
  let count = 0;
  for (const row of rows) {
    const cells = row.map((value, n) => `${JSON.stringify(columns[n])}:${jsonOf(value)}`);
    yield `${count === 0 ? "[" : ",\n"}{${cells.join(",")}}`;
    count += 1;
  }
  if (count > 0) yield "]\n";
}

function* blocks(
  columns: readonly string[],
  rows: Iterable<readonly SqlValue[]>,
  texts: Texts,
): Generator<string> {
  const width = Math.max(5, ...columns.map((name) => name.length));
  let gap = "";
  for (const row of rows) {
    const lines = texts(row).map((text, n) => `${columns[n]?.padStart(width)} = ${text}\n`);
    yield gap + lines.join("");
    gap = "\n";
  }
}

/** The characters around and between cells, and of the lines above, below and under the header. */
const GRIDS: Readonly<
  Record<string, { cell: string[]; rule: string; lines: (string[] | null)[] }>
> = {
  column: { cell: ["", "  ", ""], rule: "-", lines: [null, ["", "  ", ""], null] },
  table: {
    cell: ["| ", " | ", " |"],
    rule: "-",
    lines: [
      ["+-", "-+-", "-+"],
      ["+-", "-+-", "-+"],
      ["+-", "-+-", "-+"],
    ],
  },
  markdown: { cell: ["| ", " | ", " |"], rule: "-", lines: [null, ["|-", "-|-", "-|"], null] },
  box: {
    cell: ["│ ", " │ ", " │"],
    rule: "─",
    lines: [
      ["┌─", "─┬─", "─┐"],
      ["├─", "─┼─", "─┤"],
      ["└─", "─┴─", "─┘"],
    ],
  },
};

function* grid(
  columns: readonly string[],
  rows: readonly string[][],
  { mode, header = true }: Format,
): Generator<string> {
  const { cell, rule, lines } = GRIDS[mode] ?? { cell: [], rule: "", lines: [] };
  if (rows.length === 0) return;
  const widths = columns.map((name, n) =>
    rows.reduce((width, row) => Math.max(width, row[n]?.length ?? 0), header ? name.length : 0),
  );
  const draw = ([left, between, right]: readonly string[], cells: readonly string[]) =>
    `${`${left}${cells.join(between)}${right}`.trimEnd()}\n`;
  const row = (cells: readonly string[]) =>
    draw(
      cell,
      cells.map((text, n) => text.padEnd(widths[n] ?? 0)),
    );
  const rules = widths.map((width) => rule.repeat(width));
  const [above, under, below] = lines;
  if (above) yield draw(above, rules);
  if (header) yield row(columns);
  if (header && under) yield draw(under, rules);
  for (const cells of rows) yield row(cells);
  if (below) yield draw(below, rules);
}

function textOf(value: SqlValue, nullValue: string): string {
  if (value === null) return nullValue;
  if (typeof value === "number") return realOf(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString() : String(value);
}

function jsonOf(value: SqlValue): string {
  if (typeof value === "bigint" || value === null) return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? realOf(value) : String(null);
  return JSON.stringify(textOf(value, ""));
}

/** Integers are a `bigint`, so a number is a real, which SQLite prints with 15 digits. */
function realOf(value: number): string {
  const text = String(Number(value.toPrecision(15)));
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}
