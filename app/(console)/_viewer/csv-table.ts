/** CSV with comma, semicolon or tab, whose cells are read only when they are shown or sorted by. */
import Papa from "papaparse";

/** Wider tables are cut. */
const MAX_COLUMNS = 200;
/** The rows whose cells decide the widths of the columns. */
const SAMPLE_ROWS = 100;

export type CsvTable = ReturnType<typeof readCsv>;

/** Returns the number of rows with the first one, which names the columns, and the columns' widths in characters. */
export function readCsv(csv: string) {
  const text = csv.replace(/^\ufeff/, "");
  const [head = ""] = text.split("\n", 1);
  const [delimiter = ","] = [",", ";", "\t"].toSorted(
    (one, other) => head.split(other).length - head.split(one).length,
  );
  const options = { delimiter, newline: "\n" } as const;
  const starts: number[] = [];
  let end = 0;
  Papa.parse<string[]>(text, {
    ...options,
    step({ meta }) {
      if (end < text.length) starts.push(end);
      end = meta.cursor;
    },
  });
  const cellsOf = (row: number): string[] => {
    const line = text.slice(starts[row], starts[row + 1]).replace(/\r?\n$/, "");
    return Papa.parse<string[]>(line, options).data[0]?.slice(0, MAX_COLUMNS) ?? [""];
  };
  /** Returns the cells of a column, without its name. */
  const columnOf = (column: number): string[] => {
    const cells: string[] = [];
    Papa.parse<string[]>(text, { ...options, step: ({ data }) => cells.push(data[column] ?? "") });
    return cells.slice(1, starts.length);
  };
  const widths: number[] = [];
  for (let row = 0; row < Math.min(SAMPLE_ROWS, starts.length); row++) {
    for (const [column, { length }] of cellsOf(row).entries()) {
      widths[column] = Math.max(widths[column] ?? 8, Math.min(length + 4, 40));
    }
  }
  return { rowCount: starts.length, cellsOf, columnOf, widths };
}

/** Returns the rows in the order of a column: as numbers if all are, empty cells last. */
export function sortRows(
  { columnOf }: Pick<CsvTable, "columnOf">,
  column: number,
  isDescending: boolean,
): Uint32Array<ArrayBuffer> {
  const texts = columnOf(column).map((text) => text.trim().toLowerCase());
  const sign = isDescending ? -1 : 1;
  const isNumeric = texts.every((text) => !Number.isNaN(Number(text)));
  const keys: ArrayLike<number | string> = isNumeric
    ? Float64Array.from(texts, (text) => (text === "" ? sign * Infinity : Number(text)))
    : texts.map((text) => text || (isDescending ? "" : "\uffff"));
  return Uint32Array.from(texts, (_, row) => row + 1).sort((one, other) => {
    const [left = 0, right = 0] = [keys[one - 1], keys[other - 1]];
    return left < right ? -sign : left > right ? sign : one - other;
  });
}
