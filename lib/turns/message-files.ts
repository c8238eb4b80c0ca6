import type { UIMessage } from "ai";
import { inspectPdf, pagesOfScan } from "../agent/documents/inspect-pdf.ts";
import { acceptsInput } from "../agent/models/list-models.ts";
import { modelsOf } from "../agent/models/model-outages.ts";
import { hasPdf, type PdfInput } from "../agent/show-files.ts";
import type { App } from "../app.ts";
import { contextBudget } from "./fit-context.ts";
import type { ActiveTurn } from "./store/turns.ts";

/** What all PDFs of a conversation may take of the context. */
const PDF_SHARE = 0.5;

export type PdfParts = Pick<
  App,
  "contextWindows" | "models" | "pdfInspections" | "queues" | "sandboxes"
>;

/**
 * Returns how the PDFs of messages are shown; undefined unless each model that may answer reads PDFs, or each
 * reads images.
 */
export async function pdfInputFor(
  app: PdfParts,
  turn: ActiveTurn,
  messages: readonly Pick<UIMessage, "parts">[],
  signal: AbortSignal,
): Promise<PdfInput | undefined> {
  if (!hasPdf(messages)) return undefined;
  const modelIds = modelsOf(app.models, turn);
  const isRead = await acceptsInput(app.models, modelIds, "pdf");
  if (!isRead && !(await acceptsInput(app.models, modelIds, "image"))) return undefined;
  const work = { accountId: turn.account_id, queue: app.queues.documents };
  return {
    isRead,
    inspect: (bytes) => inspectPdf(app.pdfInspections, work, bytes, signal),
    pagesOfScan: (bytes) => pagesOfScan(work, bytes, signal),
    maxTokens: (await contextBudget(app, turn)) * PDF_SHARE,
  };
}
