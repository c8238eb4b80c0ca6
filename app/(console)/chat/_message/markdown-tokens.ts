/**
 * Parses the Markdown of a model into tokens, never into HTML. The text is untrusted: tags stay text,
 * and links lead to web addresses only.
 */
import { lexer, type MarkedToken } from "marked";

/** Replaced once its module is loaded; until then, unclosed marks are shown as they are written. */
let closeOpenMarks = (text: string): string => text;
let isRequested = false;

/** @param isStreaming closes unclosed marks at the end, such as a code span. */
export function parseMarkdown(text: string, isStreaming: boolean): MarkedToken[] {
  if (isStreaming && !isRequested) loadCloser();
  // Without extensions, the lexer returns no other types of token.
  return lexer(isStreaming ? closeOpenMarks(text) : text) as MarkedToken[];
}

/** Loads the module on demand, because only streaming text needs it. */
function loadCloser(): void {
  isRequested = true;
  import("remend").then(
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
