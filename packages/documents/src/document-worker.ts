/** The worker thread of `run-document-worker.ts`: posts a document, or why there is none. */
import { parentPort, workerData } from "node:worker_threads";
import { DocumentError, type DocumentText, TOO_DEEP } from "./document.ts";
import type { DocumentTask } from "./run-document-worker.ts";
import type { WrittenDocument } from "./write-document.ts";

type ReadTask = Extract<DocumentTask, { kind: "read" | "preview" }>;
type WriteTask = Extract<DocumentTask, { kind: "write" }>;

/** A sandbox takes no larger file. */
const MAX_WRITTEN_BYTES = 10 * 1024 * 1024;
const MAX_PREVIEW_BYTES = 100 * 1024 * 1024;

const task: DocumentTask = workerData;

async function answer() {
  try {
    return { document: await work() };
  } catch (error) {
    if (error instanceof DocumentError) return { fault: error.message };
    if ("format" in task && task.kind !== "write")
      return { fault: `is damaged or no ${task.format}` };
    if (task.kind !== "write" && task.kind !== "mail") return { fault: "is damaged or no PDF" };
    if (error instanceof RangeError) return { fault: TOO_DEEP };
    throw error;
  }
}

async function work(): Promise<object> {
  if (task.kind === "read") return read(task);
  if (task.kind === "preview") return preview(task);
  if (task.kind === "write") return write(task);
  if (task.kind === "mail") {
    return { html: (await import("./write-html.ts")).writeHtml(task.content) };
  }
  const { imagesOfPages, inspectPages } = await import("./page-images.ts");
  if (task.kind === "pages") return { images: await imagesOfPages(task.bytes, task.from, task.to) };
  return inspectPages(task.bytes);
}

// Each task loads only the libraries that it needs: all of them take a second.
async function read({ format, bytes }: ReadTask): Promise<DocumentText> {
  const { parseDocument } = await import("./parse-document.ts");
  return parseDocument(format, bytes);
}

/** Each sheet of a spreadsheet has its text once, as CSV. */
async function preview(given: ReadTask): Promise<{ json: Uint8Array<ArrayBuffer> }> {
  const { sections, ...document } = await read(given);
  const shown = { ...document, sections: document.sheets.length > 0 ? [] : sections };
  const json = new TextEncoder().encode(JSON.stringify(shown));
  if (json.byteLength <= MAX_PREVIEW_BYTES) return { json };
  throw new DocumentError("is too large for a preview: download it");
}

async function write(given: WriteTask): Promise<WrittenDocument> {
  const written = await documentOf(given);
  if (written.bytes.byteLength <= MAX_WRITTEN_BYTES) return written;
  const size = `${MAX_WRITTEN_BYTES / 1024 / 1024} MiB`;
  throw new DocumentError(`would be larger than ${size}: split it`);
}

async function documentOf(given: WriteTask): Promise<WrittenDocument> {
  if (given.format === "XLSX") {
    const { writeSpreadsheet } = await import("./write-spreadsheet.ts");
    return writeSpreadsheet(given.sheets);
  }
  const { parseMarkdown } = await import("./markdown.ts");
  const blocks = parseMarkdown(given.content);
  if (given.format === "PDF") return (await import("./write-pdf.ts")).writePdf(blocks);
  return { bytes: (await import("./write-docx.ts")).writeDocx(blocks) };
}

const answered = await answer();
const { json } = (answered.document ?? {}) as { readonly json?: Uint8Array<ArrayBuffer> };
parentPort?.postMessage(answered, json ? [json.buffer] : []);
