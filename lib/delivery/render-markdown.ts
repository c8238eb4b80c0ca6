/** Markdown of a model as HTML for mail programs. The text is untrusted: tags stay text, and nothing is loaded. */
import { Marked, type Tokens } from "marked";
import { escapeHtml } from "../platform/html-page.ts";

/** Deeper nesting could exhaust the stack, or take seconds: the text is shown as it is written. */
const MAX_NESTING = 30;
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

export function renderMarkdown(markdown: string): string {
  const plain = `<pre>${escapeHtml(markdown)}</pre>`;
  if (markdown.split("\n").some(isDeep)) return plain;
  try {
    return marked.parse(markdown, { async: false });
  } catch {
    // Nesting over many lines can exhaust the stack, too.
    return plain;
  }
}

const isDeep = (line: string): boolean => {
  const [lead = ""] = /^[\s>*+\-\d.)]*/.exec(line) ?? [];
  return (lead.match(/>|[*+-](?=\s)|\d[.)]/g)?.length ?? 0) > MAX_NESTING || /^\s{80}/.test(line);
};

/** Returns the first paragraph, or the beginning of the text. */
export function firstParagraph(markdown: string, maxChars: number): string {
  const found = markdown
    .split(/\n\s*\n/)
    .map((block) => block.trim())
    .find((block) => block !== "" && !/^(?:#|---|```|\||[*-]{3})/.test(block));
  const text = found ?? markdown.trim();
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).toWellFormed()}…`;
}

/** Returns a text without control characters and marks that reorder it. */
export const singleLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim()
    .toWellFormed();
