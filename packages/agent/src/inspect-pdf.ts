import { createHash } from "node:crypto";
import {
  type InspectedPdf,
  MAX_SCANNED_PAGES,
  type ScannedPage,
} from "@platform/documents/document";
import {
  type DocumentTask,
  type DocumentWork,
  runDocumentWorker,
} from "@platform/documents/run-document-worker";
import { isQueueRefusal } from "@platform/kit/fair-queue";
import { createTtlCache, type TtlCache } from "@platform/kit/ttl-cache";

/** Inspections of PDFs, by their content: a chat shows the same ones to its model in every turn. */
export type PdfInspections = TtlCache<InspectedPdf | null>;

export const createPdfInspections = (): PdfInspections =>
  createTtlCache({ ttlMs: 60 * 60_000, maxEntries: 1_000, shouldKeep: (pdf) => pdf !== null });

export const digestOfPdf = (bytes: Uint8Array): string =>
  createHash("sha256").update(bytes).digest("hex");

/** Resolves with null for a PDF that cannot be read, and if too many documents wait. */
export const inspectPdf = (
  inspections: PdfInspections,
  work: DocumentWork,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<InspectedPdf | null> =>
  inspections.get(digestOfPdf(bytes), () =>
    runPdfWorker<InspectedPdf>(work, { kind: "inspect", bytes }, signal),
  );

/** Resolves with the first pages of a scanned PDF as PNG files; none where they cannot be had. */
export async function pagesOfScan(
  work: DocumentWork,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<readonly Uint8Array[]> {
  const task = { kind: "pages", bytes, from: 1, to: MAX_SCANNED_PAGES } as const;
  const answer = await runPdfWorker<{ images: ScannedPage[] }>(work, task, signal);
  return (answer?.images ?? []).map(({ png }) => png);
}

async function runPdfWorker<Answer>(
  work: DocumentWork,
  task: Extract<DocumentTask, { kind: "inspect" | "pages" }>,
  signal: AbortSignal,
): Promise<Answer | null> {
  try {
    const answer = await runDocumentWorker<Answer>(work, task, signal);
    return typeof answer === "string" ? null : answer;
  } catch (error) {
    if (signal.aborted || isQueueRefusal(error)) return null;
    throw error;
  }
}
