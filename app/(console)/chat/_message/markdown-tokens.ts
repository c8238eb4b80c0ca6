/**
 * Markdown of a model, as tokens: never as HTML. What the model writes is text of a stranger, so a
 * tag in it stays text, and a link leads to the web or nowhere.
 */
import { lexer, type MarkedToken } from "marked";

/** Until it is there, what is still open shows as it is written. */
let closeOpenMarks = (text: string): string => text;
let isAsked = false;

/** @param isGrowing closes what is still open at the end, such as a code span, while text streams in. */
export function parseMarkdown(text: string, isGrowing: boolean): MarkedToken[] {
  if (isGrowing && !isAsked) askForCloser();
  // The lexer knows no other kinds of token without extensions.
  return lexer(isGrowing ? closeOpenMarks(text) : text) as MarkedToken[];
}

/** Only who sees text stream in needs it. */
function askForCloser(): void {
  isAsked = true;
  import("remend").then(
    (module) => {
      closeOpenMarks = module.default;
    },
    () => {
      isAsked = false;
    },
  );
}

/** The address when it is an absolute one of the web, else null. */
export function webAddress(href: string): string | null {
  const url = URL.parse(href);
  return url?.protocol === "https:" || url?.protocol === "http:" ? url.href : null;
}

const NAMED: Readonly<Record<string, string>> = {
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

/** The common character references of Markdown as characters; others stay as they are written. */
export function decodeReferences(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi,
    (whole, dec, hex, name) => {
      if (name !== undefined) return NAMED[name] ?? whole;
      const code = dec === undefined ? Number.parseInt(hex, 16) : Number(dec);
      const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
      return isCharacter ? String.fromCodePoint(code) : "\ufffd";
    },
  );
}
