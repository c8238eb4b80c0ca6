/** The worker thread of `read-document.ts`: posts the text of a document, or why it is not read. */
import { parentPort, workerData } from "node:worker_threads";
import { DocumentError, type DocumentFormat } from "./document.ts";
import { parseDocument } from "./parse-document.ts";

const { format, bytes }: { format: DocumentFormat; bytes: Uint8Array } = workerData;

async function answer() {
  try {
    return { document: await parseDocument(format, bytes) };
  } catch (error) {
    const isKnown = error instanceof DocumentError;
    return { fault: isKnown ? error.message : `is damaged or no ${format}` };
  }
}

parentPort?.postMessage(await answer());
