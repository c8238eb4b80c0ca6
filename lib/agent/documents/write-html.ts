/** Markdown of a model as HTML for mail programs. The text is untrusted: tags stay text, and nothing is loaded. */
import { Marked, type Tokens } from "marked";
import { escapeHtml } from "../../platform/html-page.ts";

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
      return isLink(href) ? `<a href="${escapeHtml(href)}">${text}</a>` : text;
    },
  },
});

function isLink(href: string): boolean {
  return LINK.test(href) && URL.canParse(href);
}

/** @throws RangeError for nesting that exhausts the stack */
export const writeHtml = (markdown: string): string => marked.parse(markdown, { async: false });
