/** CSV of RFC 4180: quoted fields may contain commas, line breaks and doubled quotes. */
export interface CsvLine {
  /** The line on which the record starts, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

export type Delimiter = "," | ";" | "\t";

/** Returns the records, without empty lines. @throws SyntaxError with the line of a misplaced quote */
export function readCsv(text: string, delimiter: Delimiter = ","): CsvLine[] {
  // A field and its terminator: a delimiter, a line break or the end of the text.
  const field = new RegExp(
    `(?:"((?:[^"]|"")*)"|([^"${delimiter}\\r\\n]*))(${delimiter}|\\r?\\n|\\r|$)`,
    "y",
  );
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
    if (end === delimiter) {
      // A delimiter at the end of the text is followed by one more, empty field.
      if (field.lastIndex === text.length) fields.push("");
      else continue;
    }
    if (fields.some((value) => value !== "")) lines.push({ line: start, fields });
    fields = [];
    start = line;
  }
  return lines;
}
