import type { DocumentFormat, DocumentText } from "./document.ts";
import { type DocumentWork, runDocumentWorker } from "./run-document-worker.ts";

/**
 * Returns the text of a document, or why it cannot be read: the end of a sentence that starts with its name.
 * @throws QueueRefusal; the reason of `signal`
 */
export function readDocument(
  work: DocumentWork,
  format: DocumentFormat,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<DocumentText | string> {
  return runDocumentWorker(work, { kind: "read", format, bytes }, signal);
}
