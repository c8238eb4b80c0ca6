import type { UIMessage } from "ai";
import { countPages } from "../agent/documents/count-pages.ts";
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
  "contextWindows" | "models" | "pageCounts" | "queues" | "sandboxes"
>;

/** Returns how the PDFs of messages are shown; undefined unless each model that may answer reads PDFs. */
export async function pdfInputFor(
  app: PdfParts,
  turn: ActiveTurn,
  messages: readonly Pick<UIMessage, "parts">[],
  signal: AbortSignal,
): Promise<PdfInput | undefined> {
  if (!hasPdf(messages)) return undefined;
  if (!(await acceptsInput(app.models, modelsOf(app.models, turn), "pdf"))) return undefined;
  const work = { accountId: turn.account_id, queue: app.queues.documents };
  return {
    countPages: (bytes) => countPages(app.pageCounts, work, bytes, signal),
    maxTokens: (await contextBudget(app, turn)) * PDF_SHARE,
  };
}
