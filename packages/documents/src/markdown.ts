/** Parses Markdown into the flat list of blocks that the writers of DOCX and PDF draw. */
import { Lexer, type MarkedToken, type Token, type Tokens } from "marked";
import { DocumentError, MAX_NESTING, TOO_DEEP } from "./document.ts";

export interface Run {
  /** A line feed is a line break. */
  readonly text: string;
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly strike?: boolean;
  readonly code?: boolean;
  /** A URL of http, https or mailto. */
  readonly href?: string;
}

interface ListMark {
  /** The list's number within the document, from 1. */
  readonly list: number;
  readonly ordered: boolean;
  /** The number of the list's first item. */
  readonly start: number;
  readonly number: number;
}

interface Place {
  /** The number of lists around the block. */
  readonly indent: number;
  /** The number of quotes around the block. */
  readonly quotes: number;
}

export interface Paragraph extends Place {
  readonly kind: "paragraph";
  readonly runs: readonly Run[];
  readonly heading?: number;
  readonly isCode?: boolean;
  mark?: ListMark;
}

export interface Table extends Place {
  readonly kind: "table";
  readonly columns: readonly ("left" | "center" | "right")[];
  /** The first one is the header. */
  readonly rows: readonly (readonly (readonly Run[])[])[];
}

export type Block = Paragraph | Table | (Place & { readonly kind: "rule" });

const MAX_CHARS = 1_000_000;
const MAX_LINES = 50_000;
/** More would be narrower than a word. */
const MAX_COLUMNS = 20;
const MAX_URL_CHARS = 2_000;

/** @throws DocumentError; RangeError for nesting that exhausts the stack */
export function parseMarkdown(markdown: string): readonly Block[] {
  if (markdown.length > MAX_CHARS || markdown.split("\n", MAX_LINES + 1).length > MAX_LINES) {
    const limits = `${MAX_CHARS} characters or ${MAX_LINES} lines`;
    throw new DocumentError(`has more than ${limits} of Markdown: split it`);
  }
  const blocks: Block[] = [];
  addBlocks(Lexer.lex(markdown), { indent: 0, quotes: 0 }, { blocks, lists: 0 });
  return blocks;
}

export const textOf = (runs: readonly Run[]): string => runs.map(({ text }) => text).join("");

interface Output {
  readonly blocks: Block[];
  lists: number;
}

function addBlocks(tokens: readonly Token[], at: Place, output: Output): void {
  if (at.indent + at.quotes > MAX_NESTING) {
    throw new DocumentError(TOO_DEEP);
  }
  const { blocks } = output;
  /** The text of a list item that is not in a paragraph. */
  let loose: Run[] = [];
  const paragraph = (runs: readonly Run[], more: Partial<Paragraph> = {}) => {
    if (runs.length > 0) blocks.push({ kind: "paragraph", runs, ...at, ...more });
  };
  for (const token of tokens as readonly MarkedToken[]) {
    if (token.type === "text" || token.type === "checkbox" || token.type === "escape") {
      loose = loose.concat(runsOf([token]));
      continue;
    }
    paragraph(loose);
    loose = [];
    if (token.type === "heading") paragraph(runsOf(token.tokens), { heading: token.depth });
    else if (token.type === "paragraph") paragraph(runsOf(token.tokens));
    else if (token.type === "code") {
      paragraph([{ text: token.text, code: true }], { isCode: true });
    } else if (token.type === "html") paragraph(runsOf([token]));
    else if (token.type === "hr") blocks.push({ kind: "rule", ...at });
    else if (token.type === "table") blocks.push({ ...tableOf(token), ...at });
    else if (token.type === "blockquote") {
      addBlocks(token.tokens, { ...at, quotes: at.quotes + 1 }, output);
    } else if (token.type === "list") addList(token, { ...at, indent: at.indent + 1 }, output);
  }
  paragraph(loose);
}

function addList({ ordered, start, items }: Tokens.List, at: Place, output: Output): void {
  const list = ++output.lists;
  const { blocks } = output;
  const first = Number(start) || (start === 0 ? 0 : 1);
  for (const [position, item] of items.entries()) {
    const before = blocks.length;
    addBlocks(item.tokens, at, output);
    const mark = { list, ordered, start: first, number: first + position };
    const block = blocks[before];
    const isText = block?.kind === "paragraph" && !block.isCode && block.quotes === at.quotes;
    if (isText && block.indent === at.indent) block.mark = mark;
    else blocks.splice(before, 0, { kind: "paragraph", runs: [], ...at, mark });
  }
}

function tableOf({ header, align, rows }: Tokens.Table): Omit<Table, keyof Place> {
  if (header.length > MAX_COLUMNS) {
    throw new DocumentError(
      `has a table of ${header.length} columns, and a page at most ${MAX_COLUMNS}: write it as .xlsx`,
    );
  }
  const cells = (row: readonly Tokens.TableCell[]) => row.map(({ tokens }) => runsOf(tokens));
  const columns = align.map((side) => side ?? "left");
  const bold = cells(header).map((runs) => runs.map((run) => ({ ...run, bold: true })));
  return { kind: "table", columns, rows: [bold, ...rows.map(cells)] };
}

function runsOf(tokens: readonly Token[], style: Omit<Run, "text"> = {}): Run[] {
  return (tokens as readonly MarkedToken[]).flatMap((token): Run[] => {
    switch (token.type) {
      case "strong":
        return runsOf(token.tokens, { ...style, bold: true });
      case "em":
        return runsOf(token.tokens, { ...style, italic: true });
      case "del":
        return runsOf(token.tokens, { ...style, strike: true });
      case "link":
        return runsOf(token.tokens, isSafe(token.href) ? { ...style, href: token.href } : style);
      case "image":
        return [{ ...style, text: decode(token.text || token.href), italic: true }];
      case "codespan":
        return [{ ...style, text: token.text, code: true }];
      case "checkbox":
        return [{ ...style, text: token.checked ? "☑ " : "☐ " }];
      case "br":
        return [{ ...style, text: "\n" }];
      case "html":
        return [{ ...style, text: /^<br\s*\/?>$/i.test(token.text) ? "\n" : token.text.trimEnd() }];
      case "text":
        if (token.tokens) return runsOf(token.tokens, style);
        return [{ ...style, text: decode(token.text.replace(/\s*\n\s*/g, " ")) }];
      default:
        return "text" in token ? [{ ...style, text: token.text }] : [];
    }
  });
}

const isSafe = (href: string): boolean =>
  /^(?:https?:\/\/|mailto:)/i.test(href) && href.length <= MAX_URL_CHARS && URL.canParse(href);

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", euro: "€", copy: "©" },
};

function decode(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,6}));/gi,
    (whole, decimal, hex, name) => {
      if (name !== undefined) return ENTITIES[name] ?? whole;
      const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
