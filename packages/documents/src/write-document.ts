import { posix } from "node:path";
import { cutName } from "@platform/kit/cut-name";
import {
  type DocumentWork,
  runDocumentWorker,
  type SheetSource,
  type WrittenFormat,
} from "./run-document-worker.ts";

export interface WrittenDocument {
  readonly bytes: Uint8Array;
  /** The rows of a spreadsheet of one sheet. */
  readonly rows?: number;
  readonly columns?: number;
  /** The sheets of a spreadsheet of several. */
  readonly sheets?: readonly { name: string; rows: number; columns: number }[];
  /** The formulas of a spreadsheet; `as_text` counts texts that only look like formulas. */
  readonly formulas?: { computed: number; without_value: number; as_text: number };
  /** The pages of a PDF document. */
  readonly pages?: number;
}

const MAX_SHEET_NAME_CHARS = 31;

/** Returns the format of the document that a path names; undefined for any other file. */
export function writtenFormatOf(path: string): WrittenFormat | undefined {
  const extension = posix.extname(path).toLowerCase();
  if (extension === ".xlsx") return "XLSX";
  if (extension === ".docx") return "DOCX";
  return extension === ".pdf" ? "PDF" : undefined;
}

/** Returns why Excel has no sheets of these names; undefined if it has. */
export function faultOfSheetNames(names: readonly string[]): string | undefined {
  const taken = new Set<string>();
  for (const name of names) {
    const isRight =
      /^[^[\]:*?/\\\p{Cc}\p{Cs}]{1,31}$/u.test(name) &&
      name.length <= MAX_SHEET_NAME_CHARS &&
      !/^'|'$|^\s*$|^history$/i.test(name);
    const shown = JSON.stringify(cutName(name, { characters: 100 }));
    if (!isRight) {
      return `the sheet name ${shown} must have 1 to ${MAX_SHEET_NAME_CHARS} characters without []:*?/\\, no apostrophe at its start or end, and not be History`;
    }
    if (taken.has(name.toLowerCase())) return `the sheet name ${shown} is there twice`;
    taken.add(name.toLowerCase());
  }
  return undefined;
}

/**
 * Returns a spreadsheet of sheets, or another document of Markdown; a string says why it cannot be written: the end
 * of a sentence that starts with its name.
 * @param source CSV in place of sheets makes a spreadsheet of one sheet, with the name of the file
 * @throws QueueRefusal; the reason of `signal`
 */
export function writeDocument(
  work: DocumentWork,
  path: string,
  format: WrittenFormat,
  source: string | readonly SheetSource[],
  signal: AbortSignal,
): Promise<WrittenDocument | string> {
  if (format === "XLSX") {
    const sheets =
      typeof source === "string"
        ? [{ name: sheetNameOf(path), csv: source, hasFormulas: true }]
        : source;
    return runDocumentWorker(work, { kind: "write", format, sheets }, signal);
  }
  return runDocumentWorker(work, { kind: "write", format, content: String(source) }, signal);
}

function sheetNameOf(path: string): string {
  const name = posix.basename(path, posix.extname(path));
  // Excel counts UTF-16 code units, of which a character may have two.
  const allowed = name.replace(/[[\]:*?/\\\p{Cc}]/gu, " ").slice(0, MAX_SHEET_NAME_CHARS);
  const whole = allowed.replace(/[\ud800-\udbff]$/, "").toWellFormed();
  const trimmed = whole.replace(/^[\s']+|[\s']+$/g, "");
  return faultOfSheetNames([trimmed]) ? "Sheet1" : trimmed;
}
