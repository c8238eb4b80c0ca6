/**
 * Parses the Markdown of a model into tokens, never into HTML. The text is untrusted: tags stay text,
 * and links lead to web addresses only.
 */
import { Marked, type MarkedToken } from "marked";
import { loadModule } from "../_load/load-module.ts";
import { extensions, type MarkdownToken } from "./extensions.ts";

/** How many characters a text may search for the ends of its emphasis; the rest of it has none. */
const MAX_SEARCHED = 4_000_000;
/** No address of a mail is as long. */
const LONG_WORD = /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]{300}/;
/** A text up to the next character that may have a meaning. */
const TEXT = /^(?:`+|~+|[^`~])[^\\<![`*~_]{0,299}/;

let searched = 0;
const marked = new Marked({
  extensions,
  // By itself, marked takes the square of the length of a paragraph or a word.
  tokenizer: {
    emStrong(src, paragraph) {
      if (/^[*_]/.test(src)) searched += paragraph.length;
      return searched > MAX_SEARCHED ? undefined : false;
    },
    inlineText(src) {
      const [raw = ""] = (LONG_WORD.test(src) && TEXT.exec(src)) || [];
      return raw !== "" && { type: "text", raw, text: raw, escaped: false };
    },
  },
});

/** Deeper nesting is shown as it is written: parsing it could exhaust the stack, or take seconds. */
const MAX_NESTING = 40;
const MAX_INDENT = 80;

/** The mark of a quote or a list item, at the place where the last one ended. */
const NEXT_MARK = /[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))/y;

/** Replaced once its module is loaded; until then, unclosed marks are shown as they are written. */
let closeOpenMarks = (text: string): string => text;
let isRequested = false;

export function parseMarkdown(text: string): readonly MarkdownToken[] {
  searched = 0;
  try {
    // With these extensions, the lexer returns no other types of token.
    return marked.lexer(escapeDeepLines(text)) as unknown as MarkdownToken[];
  } catch {
    // Nesting over many lines can exhaust the stack, too.
    return [{ type: "html", raw: text, text, block: true, pre: false }];
  }
}

function escapeDeepLines(text: string): string {
  const escaped = (line: string) => (isDeepLine(line) ? `\\${line.trimStart()}` : line);
  return text.split("\n").map(escaped).join("\n");
}

function isDeepLine(line: string): boolean {
  let count = 0;
  NEXT_MARK.lastIndex = 0;
  while (count < MAX_NESTING && NEXT_MARK.test(line)) count++;
  return count === MAX_NESTING || (count > 0 && line.search(/[^ \t]/) >= MAX_INDENT);
}

/**
 * Parses a text that is still growing, and closes the constructs that are open at its end.
 * @param before the tokens of a shorter prefix of the text; only the part that may have changed is
 * parsed again
 */
export function parseStreaming(text: string, before: readonly MarkdownToken[]): MarkdownToken[] {
  if (!isRequested) loadCloser();
  const settled: MarkdownToken[] = [];
  let start = 0;
  // The last blocks may still change: a paragraph becomes a heading, a list gets another item.
  for (const token of before.slice(0, -3)) {
    if (!text.startsWith(token.raw, start)) break;
    settled.push(token);
    start += token.raw.length;
  }
  return [...settled, ...parseMarkdown(closeEnd(text.slice(start)))];
}

function closeEnd(text: string): string {
  const isInFence = (text.match(/^ {0,3}(?:```|~~~)/gm)?.length ?? 0) % 2 === 1;
  if (isInFence) return text;
  const withoutOpenReference = text.replace(/\[\^[^\]\s]{0,64}$/, "");
  const hasOpenFormula = text.lastIndexOf("\\[") > text.lastIndexOf("\\]");
  if (hasOpenFormula) return `${text}\\]`;
  return closeOpenMarks(closeTableHead(withoutOpenReference));
}

/** Lets a table appear as a table from its first bar on, not as a paragraph that turns into one. */
function closeTableHead(text: string): string {
  const lines = text.split("\n");
  const isRow = (line: string | undefined) => line?.startsWith("|") === true;
  const hasRule = isRow(lines.at(-2)) && /^[|:\- \t]*$/.test(lines.at(-1) ?? "");
  const place = lines.length - (hasRule ? 2 : 1);
  const head = lines[place] ?? "";
  if (!isRow(head) || isRow(lines[place - 1])) return text;
  const cells = head.replace(/\|\s*$/, "").split("|").length - 1;
  const isComplete = hasRule && (lines.at(-1)?.split("|").length ?? 0) - 2 >= cells;
  if (isComplete) return text;
  if (cells === 0) return lines.slice(0, place).join("\n");
  return [...lines.slice(0, place), head, `${"|---".repeat(cells)}|`].join("\n");
}

/** Loads the module on demand, because only streaming text needs it. */
function loadCloser(): void {
  isRequested = true;
  loadModule(() => import("remend")).then(
    (module) => {
      closeOpenMarks = module.default;
    },
    () => {
      isRequested = false;
    },
  );
}

/** Returns the normalized URL if it is an absolute http(s) URL, otherwise null. */
export function webAddress(href: string): string | null {
  const url = URL.parse(href);
  return url?.protocol === "https:" || url?.protocol === "http:" ? url.href : null;
}

/**
 * Returns the path of a file in the sandbox, relative to the agent's home, for a relative path,
 * `/home/agent/…`, `sandbox:/…` or `file:///home/agent/…`; null for any other address.
 */
export function sandboxPath(href: string): string | null {
  const local = /^(?:sandbox:|file:\/\/)?(?:\/home\/agent\/|~\/)?([^/#?][^#?]*)/i.exec(href);
  const path = decodeAddress(local?.[1] ?? "");
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  const isOutside = names.includes("..") || /^[a-z][a-z\d+.-]*:/i.test(path);
  return names.length === 0 || isOutside || path.endsWith("/") ? null : names.join("/");
}

function decodeAddress(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

/** Returns the text that inline tokens show. */
export const textOf = (tokens: readonly unknown[]): string =>
  (tokens as readonly MarkedToken[])
    .map((token) =>
      "tokens" in token && token.tokens
        ? textOf(token.tokens)
        : decodeReferences("text" in token ? token.text : token.raw),
    )
    .join("");

const NAMED_REFERENCES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  copy: "©",
};

/** Decodes the common character references; others are left unchanged. */
export function decodeReferences(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi,
    (whole, dec, hex, name) => {
      if (name !== undefined) return NAMED_REFERENCES[name] ?? whole;
      const code = dec === undefined ? Number.parseInt(hex, 16) : Number(dec);
      const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
      return isCharacter ? String.fromCodePoint(code) : "\ufffd";
    },
  );
}
