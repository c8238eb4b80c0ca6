/**
 * Runs the reader and the writers of documents in a worker thread with a deadline and a heap limit, because each
 * document may be hostile, and parsing would block the event loop.
 */
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { superviseWorker } from "@platform/kit/supervise-worker";
import { z } from "zod";
import type { DocumentFormat } from "./document.ts";

const TIMEOUT_MS = 60_000;
const MAX_HEAP_MIB = 1_024;

/** Whose share of this machine the work on documents takes. */
export interface DocumentWork {
  readonly accountId: string;
  readonly queue: Queue;
}

/** Lets an account use a part of this machine. */
interface Queue {
  /** @throws if the account gets no part in time; the reason of `signal` */
  run<Result>(
    accountId: string,
    signal: AbortSignal | undefined,
    work: () => Promise<Result>,
  ): Promise<Result>;
}

export type WrittenFormat = "XLSX" | "DOCX" | "PDF";

/** A sheet that is to be written. */
export interface SheetSource {
  readonly name: string;
  readonly csv: string;
  /** Whether a text that starts with `=` is a formula. In data it is a text. */
  readonly hasFormulas: boolean;
}

export type DocumentTask =
  | {
      /** A preview is the result of reading, as JSON. */
      readonly kind: "read" | "preview";
      readonly format: DocumentFormat;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: "inspect"; readonly bytes: Uint8Array }
  /** Pages of a scanned PDF as images. */
  | {
      readonly kind: "pages";
      readonly bytes: Uint8Array;
      readonly from: number;
      readonly to: number;
    }
  | { readonly kind: "write"; readonly format: "XLSX"; readonly sheets: readonly SheetSource[] }
  | {
      readonly kind: "write";
      readonly format: Exclude<WrittenFormat, "XLSX">;
      readonly content: string;
    }
  /** Markdown as HTML for mail programs. */
  | { readonly kind: "mail"; readonly content: string };

const answer = z.union([
  z.object({ fault: z.string() }),
  z.object({ document: z.custom<object>() }),
]);

/**
 * Returns the document, or why there is none: the end of a sentence that starts with its name.
 * @throws the error of the queue; the reason of `signal`
 */
export function runDocumentWorker<Document>(
  { accountId, queue }: DocumentWork,
  task: DocumentTask,
  signal: AbortSignal,
): Promise<Document | string> {
  return queue.run(accountId, signal, async () => {
    // The bundler recognizes this form and bundles the worker too; it requires `workerData` to be an
    // object.
    const code = join(process.cwd(), "packages", "documents", "src", "document-worker.ts");
    const worker = new Worker(code, {
      workerData: { ...task },
      env: {},
      execArgv: ["--no-warnings"],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    });
    let result: Document | string | undefined;
    const keep = (message: unknown) => {
      const given = answer.parse(message);
      // The worker is part of this program.
      result = "fault" in given ? given.fault : (given.document as Document);
      return true;
    };
    const end = await superviseWorker(worker, keep, { timeoutMs: TIMEOUT_MS, signal });
    signal.throwIfAborted();
    if (result !== undefined) return result;
    return end === "late"
      ? `takes longer than ${TIMEOUT_MS / 1000} s to ${task.kind}: split it`
      : `needs too much memory to ${task.kind}: split it`;
  });
}
