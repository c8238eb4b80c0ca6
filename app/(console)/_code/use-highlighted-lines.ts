"use client";
import { startTransition, useEffect, useRef, useState } from "react";
import { loadModule } from "../_load/load-module.ts";
import type { HighlightedBlock } from "./highlighter.ts";
import { type CodeLine, findLanguage } from "./languages.ts";

/** Longer texts stay plain: the many elements would slow the page down. */
const MAX_LENGTH = 100_000;
/** The lines of one portion, so that the pieces appear early and are drawn in short tasks. */
const PORTION_LINES = 200;

const none: readonly CodeLine[] = [];

/**
 * Returns the pieces of the first lines of a text, as far as they are known: none at first, more as the
 * worker answers. The last line of a growing text is left out until it is complete. Lines may be outdated
 * for a moment after the text was replaced: compare them with the text.
 */
export function useHighlightedLines(
  text: string,
  language: string,
  isGrowing: boolean,
): readonly CodeLine[] {
  const [lines, setLines] = useState(none);
  const highlighting = useRef<Highlighting | null>(null);
  const isKnown = text.length <= MAX_LENGTH && findLanguage(language) !== undefined;
  useEffect(() => {
    if (!isKnown) return;
    const started = new Highlighting(language, (known) => startTransition(() => setLines(known)));
    highlighting.current = started;
    return () => {
      started.close();
      highlighting.current = null;
      setLines(none);
    };
  }, [language, isKnown]);
  useEffect(() => {
    if (isKnown) highlighting.current?.update(isGrowing ? completeLines(text) : `${text}\n`);
  }, [text, isGrowing, isKnown]);
  return lines;
}

const completeLines = (text: string): string => text.slice(0, text.lastIndexOf("\n") + 1);

class Highlighting {
  readonly #language: string;
  readonly #onLines: (lines: readonly CodeLine[]) => void;
  #block: Promise<HighlightedBlock> | null = null;
  #lines: readonly CodeLine[] = none;
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
    this.#end();
  }

  #end(): void {
    void this.#block?.then((block) => block.close());
    this.#block = null;
    this.#lines = none;
    this.#sent = "";
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    while (!this.#isClosed && this.#sent !== this.#wanted) {
      if (!this.#wanted.startsWith(this.#sent)) this.#end();
      this.#block ??= openBlock(this.#language);
      const portion = firstLines(this.#wanted.slice(this.#sent.length));
      this.#sent += portion;
      const lines = await this.#block.then((block) => block.next(portion.slice(0, -1)));
      // The worker has given up, or could not be loaded; the rest stays plain.
      if (lines === null || this.#isClosed) return;
      this.#lines = [...this.#lines, ...lines];
      this.#onLines(this.#lines);
    }
    this.#isBusy = false;
  }
}

const openBlock = (language: string): Promise<HighlightedBlock> =>
  loadModule(() => import("./highlighter.ts")).then(
    (module) => module.openBlock(language),
    () => plainBlock,
  );

const plainBlock: HighlightedBlock = { next: async () => null, close: () => {} };

function firstLines(text: string): string {
  let end = 0;
  for (let count = 0; count < PORTION_LINES; count++) {
    const next = text.indexOf("\n", end);
    if (next < 0) break;
    end = next + 1;
  }
  return text.slice(0, end);
}
