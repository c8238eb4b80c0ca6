import { posix } from "node:path";
import { type DocumentWork, runDocumentWorker, type WrittenFormat } from "./run-document-worker.ts";

export interface WrittenDocument {
  readonly bytes: Uint8Array;
  /** Of a spreadsheet. */
  readonly rows?: number;
  readonly columns?: number;
  /** Of a PDF document. */
  readonly pages?: number;
}

/** Returns the format of the document that a path names; undefined for any other file. */
export function writtenFormatOf(path: string): WrittenFormat | undefined {
  const extension = posix.extname(path).toLowerCase();
  if (extension === ".xlsx") return "XLSX";
  if (extension === ".docx") return "DOCX";
  return extension === ".pdf" ? "PDF" : undefined;
}

/**
 * Returns a spreadsheet of CSV, or another document of Markdown; a string says why it cannot be written: the end
 * of a sentence that starts with its name.
 * @throws QueueRefusal; the reason of `signal`
 */
export function writeDocument(
  work: DocumentWork,
  { path, format, content }: { path: string; format: WrittenFormat; content: string },
  signal: AbortSignal,
): Promise<WrittenDocument | string> {
  const name = posix.basename(path, posix.extname(path));
  return runDocumentWorker(work, { kind: "write", format, name, content }, signal);
}
