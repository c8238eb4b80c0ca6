import { type CellObject, read, type WorkSheet } from "@e965/xlsx";
import { formatNumber } from "./cell-format.ts";
import {
  countOf,
  DocumentError,
  type DocumentFormat,
  type DocumentText,
  PROTECTED,
  type Section,
  type Sheet,
} from "./document.ts";
import { readZip } from "./read-zip.ts";

const MAX_SHEETS = 200;
const MAX_CELLS = 5_000_000;
/** The amount that `read` can page through; scripts have the CSV. */
const MAX_SHOWN_CHARS = 1_000_000;

/** @throws DocumentError, or an error of the library for a damaged file */
export function parseSpreadsheet(format: DocumentFormat, bytes: Uint8Array): DocumentText {
  const hasMacros =
    format !== "XLS" && readZip(bytes).names.some((name) => name.includes("vbaProject"));
  const book = open(format, bytes);
  const sheets: Sheet[] = [];
  const sections: Section[] = [];
  const is1904 = book.Workbook?.WBProps?.date1904 === true;
  let cells = 0;
  let uncomputed = 0;
  for (const [place, name] of book.SheetNames.slice(0, MAX_SHEETS).entries()) {
    const sheet = book.Sheets[name];
    if (!sheet) continue;
    const rows = rowsOf(sheet, is1904);
    for (const cell of (sheet["!data"] ?? []).flat()) if (cell && isUncomputed(cell)) uncomputed++;
    cells += rows.reduce((sum, row) => sum + row.length, 0);
    if (cells > MAX_CELLS) throw new DocumentError(`has more than ${MAX_CELLS} cells`);
    const lines = rows.map((row) => row.map(toField).join(","));
    const csv = lines.map((line) => `${line}\n`).join("");
    sheets.push({ name, csv, rows: rows.length });
    const title = `Sheet ${place + 1}: ${name} (${rows.length} rows)`;
    sections.push({ title, text: csv.slice(0, MAX_SHOWN_CHARS).trimEnd() });
  }
  const hidden = (book.Workbook?.Sheets ?? []).filter(({ Hidden }) => Hidden).length;
  const notes = [
    `${countOf(book.SheetNames.length, "sheet")}.`,
    ...(hidden > 0 ? [`${hidden} hidden.`] : []),
    ...(book.SheetNames.length > MAX_SHEETS ? [`Only the first ${MAX_SHEETS} are read.`] : []),
    ...(uncomputed > 0 ? [`${countOf(uncomputed, "formula")} without a stored value.`] : []),
    ...(hasMacros ? ["Omitted: macros."] : []),
  ];
  return { about: `${format}, ${notes.join(" ")}`, sections, sheets };
}

function open(format: DocumentFormat, bytes: Uint8Array) {
  try {
    // Cells without a value are left out, also those with a formula. A sheet of ODS has a million of them.
    const sheetStubs = format === "XLSX";
    return read(bytes, { type: "array", dense: true, cellNF: true, cellText: false, sheetStubs });
  } catch (error) {
    const isProtected = error instanceof Error && /password|encrypt/i.test(error.message);
    throw isProtected ? new DocumentError(PROTECTED) : error;
  }
}

/** Returns the rows without empty ends. */
function rowsOf(sheet: WorkSheet, is1904: boolean): string[][] {
  const data: (CellObject | undefined)[][] = sheet["!data"] ?? [];
  const rows: string[][] = [];
  for (const row of data) {
    const values = Array.from(row ?? [], (cell) => toText(cell, is1904));
    let end = values.length;
    while (end > 0 && values[end - 1] === "") end--;
    rows.push(values.slice(0, end));
  }
  while (rows.at(-1)?.length === 0) rows.pop();
  return rows;
}

const isUncomputed = ({ t, f }: CellObject): boolean => t === "z" && f !== undefined;

function toText(cell: CellObject | undefined, is1904: boolean): string {
  if (!cell) return "";
  if (isUncomputed(cell)) return `=${cell.f} (no stored value)`;
  if (cell.t === "z" || cell.v === undefined || cell.v === null) return "";
  if (cell.t === "b") return cell.v ? "TRUE" : "FALSE";
  if (cell.t === "e") return ERRORS.get(Number(cell.v)) ?? "#ERROR!";
  return typeof cell.v === "number" ? formatNumber(cell.v, cell.z, is1904) : String(cell.v);
}

const ERRORS: ReadonlyMap<number, string> = new Map([
  ...([
    [0x00, "#NULL!"],
    [0x07, "#DIV/0!"],
    [0x0f, "#VALUE!"],
    [0x17, "#REF!"],
  ] as const),
  ...([
    [0x1d, "#NAME?"],
    [0x24, "#NUM!"],
    [0x2a, "#N/A"],
  ] as const),
]);

const toField = (text: string): string =>
  /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
