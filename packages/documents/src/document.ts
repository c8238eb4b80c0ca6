/** The type of a document, and the worker's answers. */

export type DocumentFormat =
  | "PDF"
  | "DOCX"
  | "XLSX"
  | "XLS"
  | "ODS"
  | "PPTX"
  | "EML"
  | "MSG"
  | "RTF";

export interface Section {
  /** Such as `Page 3` or `Sheet 1: Sales`. */
  readonly title: string;
  readonly text: string;
}

export interface Sheet {
  readonly name: string;
  readonly csv: string;
  readonly rows: number;
}

/** A document as text. */
export interface DocumentText {
  /** Such as `PDF, 12 pages. Without text: pages 3, 4.` */
  readonly about: string;
  readonly sections: readonly Section[];
  /** The whole sheets of a spreadsheet, for scripts. */
  readonly sheets: readonly Sheet[];
  /** How many pages a PDF has of which none has text; absent for any other document. */
  readonly scannedPages?: number;
}

/** How many pages of a scanned PDF are made images at a time. */
export const MAX_SCANNED_PAGES = 10;

export interface InspectedPdf {
  readonly pages: number;
  /** Whether its first pages have no text. */
  readonly isScanned: boolean;
}

export interface ScannedPage {
  /** From 1. */
  readonly number: number;
  readonly png: Uint8Array;
}

/** A document that is not read. Its message is the end of a sentence that starts with its name. */
export class DocumentError extends Error {
  override readonly name = "DocumentError";
}

/** Returns a list of omitted parts, such as ` Omitted: 2 images.` */
export function omittedText(counts: ReadonlyMap<string, number>): string {
  const items = [...counts].map(([unit, count]) => countOf(count, unit));
  return items.length > 0 ? ` Omitted: ${items.join(", ")}.` : "";
}

export const countOf = (count: number, unit: string): string =>
  `${count} ${unit}${count === 1 ? "" : "s"}`;

export const increment = (counts: Map<string, number>, unit: string): void =>
  void counts.set(unit, (counts.get(unit) ?? 0) + 1);

/** The levels of lists of a Word document. */
export const MAX_NESTING = 9;
export const TOO_DEEP = `is nested too deeply: use at most ${MAX_NESTING} levels of lists and quotes`;

export const PROTECTED = "is protected by a password: remove the password, then upload it again";

const OLE = [0xd0, 0xcf, 0x11, 0xe0];

/** Returns the format by the content, and for text by the name; undefined for a file of another kind. */
export function formatOf(bytes: Uint8Array, path: string): DocumentFormat | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4096));
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  if (head.subarray(0, 1024).includes("%PDF-")) return "PDF";
  if (head.subarray(0, 5).toString("latin1") === "{\\rtf") return "RTF";
  if (OLE.every((byte, place) => head[place] === byte)) {
    return extension === "msg" ? "MSG" : "XLS";
  }
  if (head.subarray(0, 4).toString("latin1") === "PK\x03\x04") {
    const formats = {
      docx: "DOCX",
      docm: "DOCX",
      dotx: "DOCX",
      dotm: "DOCX",
      xlsx: "XLSX",
      xlsm: "XLSX",
      ods: "ODS",
      pptx: "PPTX",
      pptm: "PPTX",
      ppsx: "PPTX",
      ppsm: "PPTX",
      potx: "PPTX",
    };
    return Object.entries(formats).find(([end]) => end === extension)?.[1] as
      | DocumentFormat
      | undefined;
  }
  return extension === "eml" ? "EML" : undefined;
}
