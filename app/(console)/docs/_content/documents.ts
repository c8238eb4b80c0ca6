/**
 * The documents of the repository as tokens, with the ids that GitHub gives to their headings, and
 * their search.
 */

import type { Tokens } from "marked";
import { parseMarkdown, textOf } from "../../_markdown/parse.ts";
import { addressOfPage, addressOfTag, type DocsPage, pages } from "./pages.ts";
import { describeReference } from "./reference.ts";

type ParsedDocument = ReturnType<typeof parseDocument>;

function parseDocument(text: string) {
  const tokens = parseMarkdown(text);
  const counts = new Map<string, number>();
  const ids = new Map<Tokens.Heading, string>();
  const headings: { id: string; text: string; depth: number }[] = [];
  for (const token of tokens) {
    if (token.type !== "heading") continue;
    const heading = textOf(token.tokens);
    const base = slugOf(heading);
    const count = counts.get(base) ?? 0;
    counts.set(base, count + 1);
    const id = count === 0 ? base : `${base}-${count}`;
    ids.set(token, id);
    headings.push({ id, text: heading, depth: token.depth });
  }
  return { tokens, headings, ids };
}

const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");

/**
 * Returns the target of a document's link within the console or on the web. Null if it is a file of
 * the repository without a page.
 * @param file the document, from the root of the repository
 */
export function resolveLink(href: string, file: string): string | null {
  if (/^https?:/.test(href) || href.startsWith("#")) return href;
  const { pathname, hash } = new URL(href, `https://repository.invalid/${file}`);
  if (pathname.startsWith("/docs/api/examples")) return "/docs/reference";
  const page = pages.find((one) => `/${one.file}` === pathname);
  return page === undefined ? null : `${addressOfPage(page)}${hash}`;
}

const parsed = new Map<DocsPage, ParsedDocument>();

export function readDocument(page: DocsPage): ParsedDocument {
  const document = parsed.get(page) ?? parseDocument(page.text);
  parsed.set(page, document);
  return document;
}

export interface SearchEntry {
  readonly title: string;
  /** Where it stands: the page's title, or method and path. */
  readonly place: string;
  readonly href: string;
}

let index: readonly SearchEntry[] | undefined;

export const searchIndex = (): readonly SearchEntry[] => (index ??= [...guides(), ...endpoints()]);

const guides = (): SearchEntry[] =>
  pages.flatMap((page) =>
    readDocument(page).headings.map(({ id, text, depth }) => ({
      title: text,
      place: page.title,
      href: depth === 1 ? addressOfPage(page) : `${addressOfPage(page)}#${id}`,
    })),
  );

const endpoints = (): SearchEntry[] =>
  describeReference().flatMap(({ tag, operations }) =>
    operations.map(({ id, contract }) => ({
      title: contract.summary,
      place: `${contract.method} ${contract.path}`,
      href: `${addressOfTag(tag)}#${id}`,
    })),
  );
