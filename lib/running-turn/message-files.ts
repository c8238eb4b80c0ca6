/** The files of messages as a turn gets them. */

import { fileDownloader } from "@platform/agent/download-file";
import { inspectPdf, pagesOfScan } from "@platform/agent/inspect-pdf";
import { modelsOf } from "@platform/agent/models/model-outages";
import { hasPdf, isPdf, type PdfInput, showFiles } from "@platform/agent/show-files";
import { type UntrustedSource, withSources } from "@platform/endpoint/contract/approvals";
import type { UIMessage } from "ai";
import { acceptsInput } from "../models/list-models.ts";
import type { Parts } from "../parts.ts";
import type { Database } from "../platform/database/port.ts";
import { contextSize } from "./model-call.ts";
import type { ActiveTurn } from "./state.ts";
import { markUntrusted } from "./store.ts";
import { storeFiles } from "./store-files.ts";
import { openSandbox } from "./turn-sandbox.ts";

/** The share of the context that all PDFs of a conversation may take. */
const PDF_SHARE = 0.5;

export type FileParts = Parts<
  "db" | "contextWindows" | "models" | "pdfInspections" | "queues" | "sandboxes"
>;

/**
 * Returns how the PDFs of messages are shown; undefined unless each model that may answer reads PDFs, or each
 * reads images.
 */
async function pdfInputFor(
  app: FileParts,
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
    maxTokens: (await contextSize(app, turn)).budget * PDF_SHARE,
  };
}

/**
 * Moves the files of messages to the sandbox. Returns the messages as they are stored then, and as the model
 * gets them.
 * @param store gets the messages that have changed, and all, before they are shown
 */
export async function prepareFiles(
  app: FileParts,
  turn: ActiveTurn,
  messages: readonly UIMessage[],
  signal: AbortSignal,
  store: (changed: readonly UIMessage[], history: readonly UIMessage[]) => Promise<void>,
) {
  const sandbox = openSandbox(app, turn);
  const fetchFile = fileDownloader(signal, turn.options.network_policies);
  const { history, changed } = await storeFiles(messages, sandbox, fetchFile, signal);
  if (changed.length > 0) await store(changed, history);
  const pdf = await pdfInputFor(app, turn, history, signal);
  return { history, shown: await showFiles(history, sandbox, pdf) };
}

/**
 * Records the files of messages that have the words of strangers: files of the web, and PDFs, which a model may
 * get without a call of the tool `read`. Returns all untrusted content of the turn.
 */
export async function recordSources(
  db: Database,
  { account_id: accountId, untrusted }: Pick<ActiveTurn, "account_id" | "untrusted">,
  turnId: string,
  messages: readonly Pick<UIMessage, "parts">[],
): Promise<readonly UntrustedSource[]> {
  const sources = messages.flatMap(strangersIn);
  if (withSources(untrusted, sources) === untrusted) return untrusted;
  return markUntrusted(db, { accountId, turnId }, sources);
}

const strangersIn = ({ parts }: Pick<UIMessage, "parts">): UntrustedSource[] =>
  parts.flatMap((part): UntrustedSource[] => {
    if (part.type === "steering-message") return strangersIn(part);
    if (part.type !== "file") return [];
    const url = /^https:/i.test(part.url) ? URL.parse(part.url) : null;
    if (url) return [{ kind: "web", name: url.host }];
    return isPdf(part) ? [{ kind: "file", name: part.filename?.slice(0, 200) ?? "PDF" }] : [];
  });
