/** One worker for all code of the page. It starts with the first block and is replaced when it hangs. */
import { checkChunk } from "../_load/load-module.ts";
import type { HighlightAnswer, HighlightRequest } from "./highlight-worker.ts";
import type { CodeLine } from "./languages.ts";

/** The time for one portion of lines and the download of a grammar; then the block stays plain. */
const DEADLINE_MS = 10_000;

type Resolve = (lines: readonly CodeLine[] | null) => void;

let worker: Worker | undefined;
let lastBlock = 0;
const waiting = new Map<number, Resolve>();

export interface HighlightedBlock {
  /** Resolves to the pieces of the next lines; null when the block cannot be highlighted. One call at a time. */
  next(text: string): Promise<readonly CodeLine[] | null>;
  close(): void;
}

export function openBlock(language: string): HighlightedBlock {
  const block = ++lastBlock;
  return {
    next: (text) =>
      new Promise((resolve) => {
        const timer = setTimeout(replaceWorker, DEADLINE_MS);
        waiting.set(block, (lines) => {
          clearTimeout(timer);
          waiting.delete(block);
          resolve(lines);
        });
        send({ block, language, text });
      }),
    close() {
      waiting.get(block)?.(null);
      if (worker !== undefined) send({ block, language, text: null });
    },
  };
}

function send(request: HighlightRequest): void {
  if (worker === undefined) {
    worker = new Worker(new URL("./highlight-worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<HighlightAnswer>) => {
      // The worker cannot tell the page by itself that a grammar is gone.
      if (data.error !== null) void checkChunk(data.error);
      waiting.get(data.block)?.(data.lines);
    };
    worker.onerror = replaceWorker;
  }
  worker.postMessage(request);
}

function replaceWorker(): void {
  worker?.terminate();
  worker = undefined;
  for (const resolve of [...waiting.values()]) resolve(null);
}
