/** CSV with comma, semicolon or tab, whose cells are read only when they are shown or sorted by. */

const [QUOTE, LINE_FEED] = [34, 10];
/** The amount parsed before yielding to the page. */
const PORTION = { characters: 2_000_000, rows: 20_000 };
/** Wider tables are cut. */
const MAX_COLUMNS = 200;
/** The rows whose cells decide the widths of the columns. */
const SAMPLE_ROWS = 100;

const pause = () => new Promise((resolve) => setTimeout(resolve));

export type CsvTable = Awaited<ReturnType<typeof readCsv>>;

/** Returns the number of rows with the first one, which names the columns, and the columns' widths in characters. */
export async function readCsv(text: string) {
  const head = text.slice(0, find(text, "\n", 0));
  const [delimiter = ","] = [",", ";", "\t"].toSorted(
    (one, other) => head.split(other).length - head.split(one).length,
  );
  const code = delimiter.charCodeAt(0);
  let fieldStart = text.startsWith("\ufeff") ? 1 : 0;
  const starts = text.length > fieldStart ? [fieldStart] : [];
  let isQuoted = false;
  for (let at = fieldStart; at < text.length; at++) {
    if (at % PORTION.characters === 0) await pause();
    const character = text.charCodeAt(at);
    if (isQuoted) {
      if (character !== QUOTE) continue;
      if (text.charCodeAt(at + 1) === QUOTE) at++;
      else isQuoted = false;
    } else if (character === QUOTE) isQuoted = at === fieldStart;
    else if (character === code) fieldStart = at + 1;
    else if (character === LINE_FEED) {
      fieldStart = at + 1;
      if (fieldStart < text.length) starts.push(fieldStart);
    }
  }
  const cellsOf = (row: number) =>
    cellsIn(text.slice(starts[row], starts[row + 1]).replace(/\r?\n$/, ""), delimiter);
  const widths: number[] = [];
  for (let row = 0; row < Math.min(SAMPLE_ROWS, starts.length); row++) {
    for (const [column, { length }] of cellsOf(row).entries()) {
      widths[column] = Math.max(widths[column] ?? 8, Math.min(length + 4, 40));
    }
  }
  return { rowCount: starts.length, cellsOf, widths };
}

function cellsIn(line: string, delimiter: string): string[] {
  const cells: string[] = [];
  for (let at = 0; at <= line.length && cells.length < MAX_COLUMNS; at++) {
    const quoted: string[] = [];
    while (line[at] === '"') {
      const end = find(line, '"', at + 1);
      quoted.push(line.slice(at + 1, end));
      at = Math.min(end + 1, line.length);
    }
    const end = find(line, delimiter, at);
    cells.push(quoted.join('"') + line.slice(at, end));
    at = end;
  }
  return cells;
}

/** Returns where a mark is, or the end of the text. */
function find(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? text.length : at;
}

/** Resolves with the rows in the order of a column: as numbers if all are, empty cells last. */
export async function sortRows(
  { rowCount, cellsOf }: Pick<CsvTable, "rowCount" | "cellsOf">,
  column: number,
  isDescending: boolean,
): Promise<Rows> {
  const texts: string[] = [""];
  for (let row = 1; row < rowCount; row++) {
    texts.push(cellsOf(row)[column]?.trim().toLowerCase() ?? "");
    if (row % PORTION.rows === 0) await pause();
  }
  const sign = isDescending ? -1 : 1;
  const isNumeric = texts.every((text) => !Number.isNaN(Number(text)));
  const keys: ArrayLike<number | string> = isNumeric
    ? Float64Array.from(texts, (text) => (text === "" ? sign * Infinity : Number(text)))
    : texts.map((text) => text || (isDescending ? "" : "\uffff"));
  const compare: Compare = (one, other) => {
    const [left = 0, right = 0] = [keys[one], keys[other]];
    return left < right ? -sign : left > right ? sign : one - other;
  };
  return sorted(
    Uint32Array.from({ length: rowCount - 1 }, (_, row) => row + 1),
    compare,
  );
}

type Rows = Uint32Array<ArrayBuffer>;
type Compare = (one: number, other: number) => number;

/** Sorts by merging, with pauses for the page. */
async function sorted(rows: Rows, compare: Compare): Promise<Rows> {
  await pause();
  if (rows.length <= PORTION.rows) return rows.sort(compare);
  const middle = rows.length >> 1;
  const first = await sorted(rows.subarray(0, middle), compare);
  return merge(first, await sorted(rows.subarray(middle), compare), compare);
}

async function merge(rows: Rows, others: Rows, compare: Compare) {
  const merged = new Uint32Array(rows.length + others.length);
  let [row, other] = [0, 0];
  for (let at = 0; at < merged.length; at++) {
    if (at % PORTION.rows === 0) await pause();
    const [next = Infinity, nextOther = Infinity] = [rows[row], others[other]];
    const isFirst = other === others.length || (row < rows.length && compare(next, nextOther) < 0);
    merged[at] = isFirst ? next : nextOther;
    if (isFirst) row++;
    else other++;
  }
  return merged;
}
