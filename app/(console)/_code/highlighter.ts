/** One worker for all code of the page. It starts with the first block and is replaced when it hangs. */
import { checkChunk } from "../_load/load-module.ts";
import type { HighlightAnswer, HighlightRequest } from "./highlight-worker.ts";
import type { CodeLine } from "./languages.ts";

/** The time for one portion of lines and the download of a grammar; then the block stays plain. */
const DEADLINE_MS = 30_000;
/** Lines per response. The first lines appear early, and each task that renders some is short. */
const PORTION_LINES = 200;

let worker: Worker | undefined;
let lastBlock = 0;
const waiting = new Map<number, (lines: readonly CodeLine[] | null) => void>();

/** Highlights a text that may grow, and calls `onLines` with the pieces of all lines that are known. */
export class Highlighting {
  readonly #language: string;
  readonly #onLines: (lines: readonly CodeLine[]) => void;
  #block = ++lastBlock;
  #lines: readonly CodeLine[] = [];
  #sent = "";
  #wanted = "";
  #isBusy = false;
  #isClosed = false;

  constructor(language: string, onLines: (lines: readonly CodeLine[]) => void) {
    this.#language = language;
    this.#onLines = onLines;
  }

  /** @param text complete lines, each with its line feed */
  update(text: string): void {
    this.#wanted = text;
    if (!this.#isBusy) void this.#work();
  }

  close(): void {
    this.#isClosed = true;
    this.#endBlock();
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    while (!this.#isClosed && this.#sent !== this.#wanted) {
      if (!this.#wanted.startsWith(this.#sent)) {
        this.#endBlock();
        this.#block = ++lastBlock;
        this.#lines = [];
        this.#sent = "";
      }
      const portion = firstLines(this.#wanted.slice(this.#sent.length));
      this.#sent += portion;
      const lines = await this.#highlight(portion.slice(0, -1));
      // The worker has given up; the rest stays plain.
      if (lines === null || this.#isClosed) return;
      this.#lines = [...this.#lines, ...lines];
      this.#onLines(this.#lines);
    }
    this.#isBusy = false;
  }

  #highlight(text: string): Promise<readonly CodeLine[] | null> {
    const block = this.#block;
    return new Promise((resolve) => {
      const timer = setTimeout(replaceWorker, DEADLINE_MS);
      waiting.set(block, (lines) => {
        clearTimeout(timer);
        waiting.delete(block);
        resolve(lines);
      });
      send({ block, language: this.#language, text });
    });
  }

  #endBlock(): void {
    waiting.get(this.#block)?.(null);
    if (worker !== undefined) send({ block: this.#block, language: this.#language, text: null });
  }
}

function firstLines(text: string): string {
  let end = 0;
  for (let count = 0; count < PORTION_LINES; count++) {
    const next = text.indexOf("\n", end);
    if (next < 0) break;
    end = next + 1;
  }
  return text.slice(0, end);
}

function send(request: HighlightRequest): void {
  if (worker === undefined) {
    worker = new Worker(new URL("./highlight-worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<HighlightAnswer>) => {
      // The worker cannot notify the page itself when a grammar's file is missing.
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
