/** Extensions to GitHub's Markdown that models use in answers: formulas and footnotes. */
import type { MarkedToken, TokenizerAndRendererExtension, Tokens } from "marked";

export interface FormulaToken {
  readonly type: "formula";
  readonly raw: string;
  readonly text: string;
  /** True if the formula stands on separate lines. */
  readonly isDisplay: boolean;
}

type FootnoteReferenceToken = Readonly<{ type: "footnoteReference"; raw: string; label: string }>;

interface FootnoteToken {
  readonly type: "footnote";
  readonly raw: string;
  readonly label: string;
  readonly tokens: MarkdownToken[];
}

export type MarkdownToken = MarkedToken | FormulaToken | FootnoteReferenceToken | FootnoteToken;

const formula = (raw: string, text: string, isDisplay: boolean): FormulaToken => ({
  type: "formula",
  raw,
  text: text.trim(),
  isDisplay,
});

const displayFormula: TokenizerAndRendererExtension = {
  name: "formula",
  level: "block",
  start: (source) => startOfLine(source, "$$", "\\["),
  tokenizer(source) {
    const [raw, dollars, brackets] =
      /^ {0,3}(?:\$\$([^$]+)\$\$|\\\[((?:(?!\\\]).)+)\\\])[ \t]*(?:\n+|$)/s.exec(source) ?? [];
    return raw === undefined ? undefined : formula(raw, dollars ?? brackets ?? "", true);
  },
};

/**
 * A single dollar sign is more often money than mathematics: as in Pandoc, no space stands inside the
 * signs, and no digit after them. `$10, or 5$` has words besides.
 */
const inlineFormula: TokenizerAndRendererExtension = {
  name: "inlineFormula",
  level: "inline",
  start: (source) => indexOf(source, /\$|\\[([]/),
  tokenizer(source) {
    const [raw, display, inline, round, square] =
      /^(?:\$\$([^$\n]+)\$\$|\$((?=\S)(?:\\.|[^\\$\n])*?(?:\\.|[^\\$\s]))\$(?![\d$])|\\\(((?:(?!\\\)).)+)\\\)|\\\[((?:(?!\\\]).)+)\\\])/s.exec(
        source,
      ) ?? [];
    if (raw === undefined || (inline !== undefined && isMoney(inline))) return undefined;
    const text = display ?? inline ?? round ?? square ?? "";
    return formula(raw, text, display !== undefined || square !== undefined);
  },
};

const isMoney = (text: string): boolean =>
  /^\d/.test(text) && /(?:^|[^\\a-z])[a-z]{2,}/i.test(text);

const footnoteReference: TokenizerAndRendererExtension = {
  name: "footnoteReference",
  level: "inline",
  start: (source) => indexOf(source, /\[\^/),
  tokenizer(source): FootnoteReferenceToken | undefined {
    const [raw, label] = /^\[\^([^\]\s]{1,64})\](?!:)/.exec(source) ?? [];
    if (raw === undefined || label === undefined) return undefined;
    return { type: "footnoteReference", raw, label };
  },
};

const footnote: TokenizerAndRendererExtension = {
  name: "footnote",
  level: "block",
  start: (source) => startOfLine(source, "[^"),
  tokenizer(source): FootnoteToken | undefined {
    const [raw, label, text] =
      /^ {0,3}\[\^([^\]\s]{1,64})\]:[ \t]*([^\n]*(?:\n(?:[ \t]+\S[^\n]*))*)(?:\n+|$)/.exec(
        source,
      ) ?? [];
    if (raw === undefined || label === undefined) return undefined;
    const tokens: Tokens.Generic[] = [];
    this.lexer.inline((text ?? "").replace(/\n[ \t]+/g, "\n"), tokens as never);
    return { type: "footnote", raw, label, tokens: tokens as unknown as MarkdownToken[] };
  },
};

export const extensions = [displayFormula, inlineFormula, footnoteReference, footnote];

/** Called for every paragraph with the rest of the text, so it must be fast. */
function startOfLine(source: string, ...marks: readonly string[]): number | undefined {
  const places = marks.map((mark) => source.indexOf(`\n${mark}`)).filter((index) => index >= 0);
  return places.length === 0 ? undefined : Math.min(...places) + 1;
}

function indexOf(source: string, pattern: RegExp): number | undefined {
  const index = source.search(pattern);
  return index < 0 ? undefined : index;
}
