import { type CellObject, read, type WorkSheet } from "@e965/xlsx";
import {
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
/** What `read` can page through; scripts have the CSV. */
const MAX_SHOWN_CHARS = 1_000_000;

/** @throws DocumentError, or an error of the library for a damaged file */
export function parseSpreadsheet(format: DocumentFormat, bytes: Uint8Array): DocumentText {
  const hasMacros =
    format !== "XLS" && readZip(bytes).names.some((name) => name.includes("vbaProject"));
  const book = open(bytes);
  const sheets: Sheet[] = [];
  const sections: Section[] = [];
  let cells = 0;
  for (const [place, name] of book.SheetNames.slice(0, MAX_SHEETS).entries()) {
    const sheet = book.Sheets[name];
    if (!sheet) continue;
    const rows = rowsOf(sheet);
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
    `${book.SheetNames.length} ${book.SheetNames.length === 1 ? "sheet" : "sheets"}.`,
    ...(hidden > 0 ? [`${hidden} hidden.`] : []),
    ...(book.SheetNames.length > MAX_SHEETS ? [`Only the first ${MAX_SHEETS} are read.`] : []),
    ...(hasMacros ? ["Omitted: macros."] : []),
  ];
  return { about: `${format}, ${notes.join(" ")}`, sections, sheets };
}

function open(bytes: Uint8Array) {
  try {
    return read(bytes, { type: "array", dense: true, cellDates: true, UTC: true, cellText: false });
  } catch (error) {
    const isProtected = error instanceof Error && /password|encrypt/i.test(error.message);
    throw isProtected ? new DocumentError(PROTECTED) : error;
  }
}

/** Returns the rows without empty ends. Dates are ISO dates, numbers are not formatted. */
function rowsOf(sheet: WorkSheet): string[][] {
  const data: (CellObject | undefined)[][] = sheet["!data"] ?? [];
  const rows: string[][] = [];
  for (const row of data) {
    const values = Array.from(row ?? [], toText);
    let end = values.length;
    while (end > 0 && values[end - 1] === "") end--;
    rows.push(values.slice(0, end));
  }
  while (rows.at(-1)?.length === 0) rows.pop();
  return rows;
}

function toText(cell: CellObject | undefined): string {
  if (!cell || cell.v === undefined || cell.v === null) return "";
  if (cell.t === "b") return cell.v ? "TRUE" : "FALSE";
  if (cell.t === "e") return cell.w ?? "#ERROR!";
  if (cell.v instanceof Date) {
    if (Number.isNaN(cell.v.getTime())) return "";
    const iso = cell.v.toISOString();
    return iso.endsWith("T00:00:00.000Z") ? iso.slice(0, 10) : iso.slice(0, 19);
  }
  return String(cell.v);
}

const toField = (text: string): string =>
  /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
