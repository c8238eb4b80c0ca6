/** Writes CSV as a workbook, in the worker. */
import { type CellObject, utils, type WorkSheet, write } from "@e965/xlsx";
import { CsvError, parse } from "csv-parse/sync";
import { unzipSync, zipSync } from "fflate";
import { type ColumnType, columnTypeOf } from "./column-type.ts";
import { DocumentError } from "./document.ts";
import { computeFormulas, type Grid, type GridCell, parseFormula } from "./formula.ts";
import type { SheetSource } from "./run-document-worker.ts";
import type { WrittenDocument } from "./write-document.ts";

const MAX_ROWS = 200_000;
const MAX_CELLS = 2_000_000;
/** Limits of Excel. */
const MAX_COLUMNS = 16_384;
const MAX_CELL_CHARS = 32_767;
const MAX_COLUMN_WIDTH = 60;
const FORMULA_WIDTH = 14;
/** Rows whose texts are measured for the widths of columns. */
const MEASURED_ROWS = 1_000;
/** The format of text, which only headers have. */
const HEADER_FORMAT = "@";

/** @throws DocumentError */
export function writeSpreadsheet(sources: readonly SheetSource[]): WrittenDocument {
  const tables = sources.map(({ csv }) => parseCsv(csv));
  const columns = tables.map((rows) => rows.reduce((most, row) => Math.max(most, row.length), 0));
  const cells = tables.flat().reduce((sum, row) => sum + row.length, 0);
  if (tables.flat().length > MAX_ROWS || cells > MAX_CELLS || Math.max(...columns) > MAX_COLUMNS) {
    throw new DocumentError(
      `has more than ${MAX_ROWS} rows, ${MAX_CELLS} cells or ${MAX_COLUMNS} columns: split it`,
    );
  }
  const names = new Set(sources.map(({ name }) => name.toLowerCase()));
  const formulas = { computed: 0, without_value: 0, as_text: 0 };
  const typed = tables.map((rows, place) => {
    const { name, hasFormulas } = sources[place] as SheetSource;
    const hasHeader = hasHeaderOf(rows);
    const types = typesOf(rows, columns[place] ?? 0, hasHeader, hasFormulas);
    const grid: Grid = {
      name,
      rows: rows.map((row, at) =>
        row.map((text, column): GridCell => {
          if (text === "") return null;
          const formula =
            isFormula(text) && hasFormulas ? parseFormula(text.slice(1), names) : null;
          if (formula) return formula;
          if (isFormula(text) && hasFormulas) formulas.as_text++;
          return (at > 0 || !hasHeader ? types[column]?.toNumber(text) : undefined) ?? text;
        }),
      ),
    };
    return { grid, types, hasHeader };
  });
  computeFormulas(typed.map(({ grid }) => grid));
  const sheets = typed.map(({ grid, types, hasHeader }, place): WorkSheet => {
    const rows = tables[place] ?? [];
    const data = grid.rows.map((row, at) =>
      row.map((cell, column) => {
        if (at === 0 && hasHeader && typeof cell === "string")
          return { ...toCell(cell), z: HEADER_FORMAT };
        if (cell !== null && typeof cell === "object") {
          formulas[cell.value === null ? "without_value" : "computed"]++;
        }
        return toCell(cell, rows[at]?.[column], types[column]?.format);
      }),
    );
    return {
      "!ref": utils.encode_range({
        s: { r: 0, c: 0 },
        e: { r: Math.max(rows.length, 1) - 1, c: Math.max(columns[place] ?? 0, 1) - 1 },
      }),
      // The library writes no sheet without a row.
      "!data": data.length === 0 ? [[]] : data,
      "!cols": widthsOf(rows, columns[place] ?? 0).map((wch) => ({ wch })),
    };
  });
  const SheetNames = sources.map(({ name }) => name);
  const book = {
    SheetNames,
    Sheets: Object.fromEntries(sheets.map((sheet, place) => [SheetNames[place], sheet])),
  };
  const bytes: Buffer = write(book, { type: "buffer", bookType: "xlsx", bookSST: true });
  const frozen = typed.map(({ hasHeader }) => hasHeader);
  const counts = tables.map((rows, place) => ({ rows: rows.length, columns: columns[place] ?? 0 }));
  const named = counts.map((count, place) => ({ name: SheetNames[place] ?? "", ...count }));
  const hasAny = formulas.computed + formulas.without_value + formulas.as_text > 0;
  return {
    bytes: withHeaders(bytes, frozen, hasAny),
    ...(sources.length === 1 ? counts[0] : { sheets: named }),
    ...(hasAny && { formulas }),
  };
}

/** Freezes headers and makes them bold, which the library cannot, and has formulas computed when they are opened. */
function withHeaders(bytes: Uint8Array, frozen: readonly boolean[], hasFormulas: boolean) {
  const parts = unzipSync(bytes);
  const replace = (name: string, from: string, to: string) => {
    const part = Buffer.from(parts[name] ?? []);
    const at = part.indexOf(from);
    if (at < 0) throw new Error(`The library has changed ${name}`);
    const rest = part.subarray(at + from.length);
    parts[name] = Buffer.concat([part.subarray(0, at), Buffer.from(to), rest]);
  };
  if (frozen.includes(true)) {
    const bold = '<font><b/><sz val="12"/><name val="Calibri"/><family val="2"/></font>';
    replace("xl/styles.xml", '<fonts count="1">', '<fonts count="2">');
    replace("xl/styles.xml", "</fonts>", `${bold}</fonts>`);
    replace("xl/styles.xml", 'numFmtId="49" fontId="0"', 'numFmtId="49" fontId="1" applyFont="1"');
  }
  if (hasFormulas) {
    replace("xl/workbook.xml", "</sheets>", '</sheets><calcPr fullCalcOnLoad="1"/>');
  }
  for (const [place, isFrozen] of frozen.entries()) {
    const view = '<sheetView workbookViewId="0"';
    const pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
    const sheet = `xl/worksheets/sheet${place + 1}.xml`;
    if (isFrozen) replace(sheet, `${view}/>`, `${view}>${pane}</sheetView>`);
  }
  return zipSync(parts);
}

function parseCsv(csv: string): string[][] {
  try {
    const rows: string[][] = parse(csv, { bom: true, relax_column_count: true, to: MAX_ROWS + 1 });
    return rows;
  } catch (error) {
    if (error instanceof CsvError) throw new DocumentError(`is no CSV: ${error.message}`);
    throw error;
  }
}

const isFormula = (text: string): boolean => text.startsWith("=") && text.length > 1;

/** Returns whether the first row names the columns: it has a text that no column of numbers would have. */
const hasHeaderOf = ([first = [], ...rest]: readonly (readonly string[])[]): boolean =>
  rest.length > 0 && first.some((text) => text !== "" && !isFormula(text) && !columnTypeOf([text]));

/** Returns the types of the columns. A formula does not change the type of its column. */
function typesOf(
  rows: readonly (readonly string[])[],
  columns: number,
  hasHeader: boolean,
  hasFormulas: boolean,
): (ColumnType | null)[] {
  const body = hasHeader ? rows.slice(1) : rows;
  return Array.from({ length: columns }, (_, column) => {
    const texts = body.flatMap((row) => {
      const text = row[column] ?? "";
      return text === "" || (hasFormulas && isFormula(text)) ? [] : [text];
    });
    return columnTypeOf(texts, hasHeader ? rows[0]?.[column] : "");
  });
}

function toCell(cell: GridCell, text = "", format?: string): CellObject {
  const z = format === undefined ? {} : { z: format };
  if (cell === null) return { t: "z" };
  if (typeof cell === "number") return { t: "n", v: cell, ...z };
  if (typeof cell === "object") {
    const f = text.slice(1);
    return typeof cell.value === "number"
      ? { t: "n", v: cell.value, f, ...z }
      : { t: "z", f, ...z };
  }
  if (cell.length > MAX_CELL_CHARS) {
    throw new DocumentError(`has a cell of more than ${MAX_CELL_CHARS} characters`);
  }
  // Programs would read `_x0041_` as the character of this number.
  return { t: "s", v: cell.replace(/_(?=x[\da-f]{4}_)/gi, "_x005F_") };
}

function widthsOf(rows: readonly (readonly string[])[], columns: number): number[] {
  const widths = new Array<number>(columns).fill(8);
  for (const row of rows.slice(0, MEASURED_ROWS)) {
    for (const [column, text] of row.entries()) {
      const length = isFormula(text) ? FORMULA_WIDTH : text.length + 2;
      const width = Math.min(length, MAX_COLUMN_WIDTH);
      widths[column] = Math.max(widths[column] ?? 0, width);
    }
  }
  return widths;
}
