import { createHash } from "node:crypto";
import { isQueueRefusal } from "../../platform/fair-queue.ts";
import { createTtlCache, type TtlCache } from "../../platform/ttl-cache.ts";
import { type DocumentWork, runDocumentWorker } from "./run-document-worker.ts";

/** The pages of PDFs by their content: a chat shows the same ones to its model in every turn. */
export type PageCounts = TtlCache<number | null>;

export const createPageCounts = (): PageCounts =>
  createTtlCache({ ttlMs: 60 * 60_000, maxEntries: 1_000, shouldKeep: (pages) => pages !== null });

/** Resolves with the pages of a PDF; null for one that cannot be read, and if too many documents wait. */
export function countPages(
  counts: PageCounts,
  work: DocumentWork,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<number | null> {
  const digest = createHash("sha256").update(bytes).digest("hex");
  return counts.get(digest, async () => {
    try {
      const task = { kind: "count", bytes } as const;
      const counted = await runDocumentWorker<{ pages: number }>(work, task, signal);
      return typeof counted === "string" ? null : counted.pages;
    } catch (error) {
      if (signal.aborted || isQueueRefusal(error)) return null;
      throw error;
    }
  });
}
