import { formatOf } from "@platform/documents/document";
import { type DocumentWork, runDocumentWorker } from "@platform/documents/run-document-worker";
import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { queueRefused } from "@platform/endpoint/contract/queue-refused";
import { isQueueRefusal } from "@platform/kit/fair-queue";

/** The work of a reader who has gone ends. */
const gone = appError("unavailable", "The request was canceled");

/**
 * Answers with the result of `read` for a document, as JSON that the worker has written. Errors:
 * 400 for a file that is not a document or cannot be read, 429, 503.
 */
export async function previewDocument(
  work: DocumentWork,
  { name, bytes }: { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> },
  signal: AbortSignal,
): Promise<Response | AppError> {
  const format = formatOf(bytes, name);
  if (!format)
    return appError(
      "invalid_request",
      "The file is not the document that its name says: download it",
    );
  try {
    const task = { kind: "preview", format, bytes } as const;
    const preview = await runDocumentWorker<{ json: Uint8Array<ArrayBuffer> }>(work, task, signal);
    if (typeof preview === "string") return appError("invalid_request", `The file ${preview}`);
    return new Response(preview.json, {
      headers: { "content-type": "application/json", "x-content-type-options": "nosniff" },
    });
  } catch (error) {
    if (isQueueRefusal(error)) return queueRefused(error);
    if (signal.aborted) return gone;
    throw error;
  }
}
