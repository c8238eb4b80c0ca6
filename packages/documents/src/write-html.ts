/** Markdown of a model as HTML for mail programs. The text is untrusted: tags stay text, and nothing is loaded. */

import { escapeHtml } from "@platform/kit/html-page";
import { concealedHost } from "@platform/kit/shown-links";
import { Marked, type Tokens } from "marked";

const LINK = /^(?:https?|mailto):/i;

const marked = new Marked({
  async: false,
  gfm: true,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
    image: ({ text }: Tokens.Image) => escapeHtml(text),
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? "☑ " : "☐ "),
    link({ href, tokens }: Tokens.Link) {
      const text = this.parser.parseInline(tokens);
      if (!isLink(href)) return text;
      const host = concealedHost(textOf(text), href);
      return `<a href="${escapeHtml(href)}">${text}${host === null ? "" : ` (${escapeHtml(host)})`}</a>`;
    },
  },
});

/** Mail programs know all named references, such as `&period;`: any is taken for a part of an address. */
const textOf = (html: string): string =>
  html
    .replace(/<[^>]*>/g, "")
    .replace(/&#(x?)([\da-f]{1,6});/gi, (_, hex: string, code: string) => {
      const point = Number.parseInt(code, hex ? 16 : 10);
      return point <= 0x10ffff ? String.fromCodePoint(point) : "";
    })
    .replace(/&[a-z\d]{2,40};/gi, ".");

function isLink(href: string): boolean {
  return LINK.test(href) && URL.canParse(href);
}

/** @throws RangeError for nesting that exhausts the stack */
export const writeHtml = (markdown: string): string => marked.parse(markdown, { async: false });
