/** Reads mail as its recipient sees it: the best of its parts as text, without hidden passages. */
import { decompressRTF } from "@kenjiuno/decompressrtf";
import MsgReader from "@kenjiuno/msgreader";
import { Parser } from "htmlparser2";
import PostalMime from "postal-mime";
import { decode, decodeText } from "./decode-text.ts";
import { countOf, DocumentError, type DocumentText, increment, omittedText } from "./document.ts";
import { parseRtf } from "./parse-rtf.ts";

/** Node gives the module of a CommonJS package as its default export, and bundlers give the export of that name. */
const Reader =
  (MsgReader as typeof MsgReader & { default?: typeof MsgReader }).default ?? MsgReader;
/** A text part that is shorter by this only says that there is an HTML part. */
const STUB_SHARE = 0.25;
const MAX_LINK_CHARS = 2_000;

interface Mail {
  /** By their names, in the order in which they are shown. */
  readonly fields: Readonly<Record<string, string>>;
  readonly text: string;
  readonly html: string;
}

export async function parseEml(bytes: Uint8Array): Promise<DocumentText> {
  const mail = await PostalMime.parse(bytes);
  const people = (list: readonly { name?: string; address?: string }[] = []) =>
    list.map(({ name, address }) => [name, address && `<${address}>`].filter(Boolean).join(" "));
  const attachments = mail.attachments.map(({ filename, mimeType, content }) => {
    const size = typeof content === "string" ? Buffer.byteLength(content) : content.byteLength;
    return `${filename ?? "unnamed"} (${mimeType}, ${countOf(size, "byte")})`;
  });
  const fields = {
    From: people(mail.from ? [mail.from] : []).join(", "),
    To: people(mail.to).join(", "),
    Cc: people(mail.cc).join(", "),
    Date: mail.date ?? "",
    Subject: mail.subject ?? "",
    Attachments: attachments.join(", "),
  };
  return mailText("EML", { fields, text: mail.text ?? "", html: mail.html ?? "" });
}

/** @throws DocumentError for a file that is not a message */
export function parseMsg(bytes: Uint8Array): DocumentText {
  const mail = new Reader(new Uint8Array(bytes).buffer).getFileData();
  if (mail.error) throw new DocumentError("is damaged or no message");
  const recipients = (type: string) =>
    (mail.recipients ?? [])
      .filter(({ recipType = "to" }) => recipType === type)
      .map(({ name, email, smtpAddress }) => `${name ?? ""} <${smtpAddress ?? email ?? ""}>`)
      .join(", ");
  const attachments = (mail.attachments ?? []).map(
    ({ fileName, name, contentLength: size }) =>
      `${fileName ?? name ?? "unnamed"}${size === undefined ? "" : ` (${countOf(size, "byte")})`}`,
  );
  const fields = {
    From: `${mail.senderName ?? ""} <${mail.senderSmtpAddress ?? mail.senderEmail ?? ""}>`,
    To: recipients("to"),
    Cc: recipients("cc"),
    Date: mail.messageDeliveryTime ?? mail.clientSubmitTime ?? "",
    Subject: mail.subject ?? "",
    Attachments: attachments.join(", "),
  };
  const body = mail.body ?? "";
  return mailText("MSG", {
    fields,
    text: body.trim() === "" && mail.compressedRtf ? textOfRtf(mail.compressedRtf) : body,
    html: mail.bodyHtml ?? (mail.html ? htmlOf(mail.html) : ""),
  });
}

function textOfRtf(compressed: Uint8Array): string {
  try {
    const { sections } = parseRtf(Uint8Array.from(decompressRTF([...compressed])));
    return sections.map(({ text }) => text).join("\n\n");
  } catch {
    return "(The body is damaged)";
  }
}

/** The HTML of a message is in the encoding that it declares. */
function htmlOf(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.subarray(0, 2_048)).toString("latin1");
  const charset = /charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1] ?? "";
  return decode(charset, bytes) ?? decodeText(bytes)?.text ?? Buffer.from(bytes).toString();
}

function mailText(format: "EML" | "MSG", { fields, text, html }: Mail): DocumentText {
  const shown = textOfHtml(html);
  const length = (text: string) => text.replace(/\s+/g, "").length;
  const isStub = length(text) < STUB_SHARE * length(shown.text);
  const body = isStub ? shown.text : text.replace(/\r\n?/g, "\n").trim();
  const lines = Object.entries(fields).flatMap(([name, value]) => {
    const line = value.replace(/\s+/g, " ").trim();
    return line === "" || line === "<>" ? [] : [`${name}: ${line}`];
  });
  if (lines.length === 0 && body === "") throw new DocumentError("is damaged or no message");
  const named = fields.Attachments ? " Attachments are only named." : "";
  return {
    about: `${format}.${named}${isStub ? omittedText(shown.omitted) : ""}`,
    sections: [{ title: "", text: [...lines, "", body].join("\n") }],
    sheets: [],
  };
}

const SKIPPED = new Set(["script", "style", "head", "title", "template", "noscript", "object"]);
const BLOCKS = new Set([
  ...["address", "article", "aside", "center", "div", "dl", "dt", "dd", "fieldset", "figure"],
  ...["figcaption", "footer", "form", "header", "hr", "li", "main", "nav", "ol", "pre", "section"],
  ...["table", "caption", "ul"],
]);
const PARAGRAPHS = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote"]);
const VOID = new Set(["br", "hr", "img", "input", "meta", "link", "wbr", "col", "area", "base"]);
const HIDDEN = /display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all/i;
/** Marks between two texts. Texts have none, because their own white space becomes blanks. */
const [BLOCK, BREAK, CELL, ROW, PARAGRAPH, ITEM] = ["\n", "\r", "\f", "\u2028", "\u2029", "\v"];
/** Stands for a space that is kept. */
const SPACE = "\0";

/** The parser takes a time for each end tag that grows with the number of open elements. */
const MAX_OPEN_ELEMENTS = 2_000;

/**
 * Returns the text of HTML as it is displayed, and how much is not shown of it.
 * @throws DocumentError for elements that are nested too deeply
 */
function textOfHtml(html: string): { text: string; omitted: ReadonlyMap<string, number> } {
  const omitted = new Map<string, number>();
  const parts: string[] = [];
  /** The next number of each open list; 0 for bullets. */
  const lists: number[] = [];
  const links: { href: string; from: number }[] = [];
  let opened = 0;
  let skipped = 0;
  let preformatted = 0;
  let isFirstCell = true;
  const breakAt = (name: string): void => {
    if (name === "br") parts.push(BREAK);
    else if (name === "tr") parts.push(ROW);
    else if (PARAGRAPHS.has(name)) parts.push(PARAGRAPH);
    else if (BLOCKS.has(name)) parts.push(BLOCK);
  };
  const parser = new Parser({
    onopentag(name, { style = "", hidden, href = "", alt = "", start = "1" }) {
      if (!VOID.has(name) && ++opened > MAX_OPEN_ELEMENTS)
        throw new DocumentError("has HTML that is nested too deeply");
      const isHidden = !VOID.has(name) && (hidden !== undefined || HIDDEN.test(style));
      if (skipped > 0 || isHidden || SKIPPED.has(name)) {
        if (skipped === 0 && isHidden) increment(omitted, "hidden passage");
        if (!VOID.has(name)) skipped++;
        return;
      }
      breakAt(name);
      if (name === "tr") isFirstCell = true;
      else if (name === "td" || name === "th") {
        if (!isFirstCell) parts.push(CELL);
        isFirstCell = false;
      } else if (name === "pre") preformatted++;
      else if (name === "ul") lists.push(0);
      else if (name === "ol") lists.push(Number.parseInt(start, 10) || 1);
      else if (name === "li") {
        const number = lists.at(-1) ?? 0;
        if (number > 0) lists[lists.length - 1] = number + 1;
        const indent = SPACE.repeat(2 * Math.min(9, Math.max(0, lists.length - 1)));
        parts.push(`${indent}${number > 0 ? `${number}.` : "-"}`, ITEM);
      } else if (/^h\d$/.test(name)) parts.push(`${"#".repeat(Number(name[1]))} `);
      else if (name === "img" && alt.trim() !== "") parts.push(`[image: ${alt.trim()}]`);
      else if (name === "img") increment(omitted, "image");
      // Of links in links, which HTML does not know, the outer one counts.
      else if (name === "a") links.push({ href: links.length > 0 ? "" : href, from: parts.length });
    },
    ontext(text) {
      if (skipped > 0) return;
      const isRaw = preformatted > 0;
      parts.push(isRaw ? text.replace(/\r?\n/g, BREAK).replace(/[ \t]/g, SPACE) : spaced(text));
    },
    onclosetag(name) {
      if (VOID.has(name)) return;
      opened--;
      if (skipped > 0) {
        skipped--;
        return;
      }
      breakAt(name);
      if (name === "pre") preformatted--;
      if (name === "ul" || name === "ol") lists.pop();
      if (name !== "a") return;
      const { href = "", from = 0 } = links.pop() ?? {};
      if (!/^(?:https?|mailto|tel):/i.test(href) || href.length > MAX_LINK_CHARS) return;
      const label = parts.slice(from).join("").trim();
      if (label !== "" && !href.includes(label)) parts.push(` <${href}>`);
    },
  });
  parser.end(html);
  const text = parts.join("").trim().replace(/\s+/g, gapText);
  return { text: text.replaceAll(SPACE, " "), omitted };
}

const spaced = (text: string): string => text.replace(/\s+/g, " ");

/** Returns the separator of two texts. The first paragraph of a cell or of an item does not start a line. */
function gapText(gap: string): string {
  if (gap.startsWith(ITEM)) return " ";
  const row = gap.lastIndexOf(ROW);
  const cells = gap.slice(row + 1).split(CELL).length - 1;
  const separators = " | ".repeat(cells);
  if (row < 0 && cells > 0) return separators;
  const isParagraph = gap.slice(0, row < 0 ? gap.length : row).includes(PARAGRAPH);
  if (isParagraph || /[\n\r]\r/.test(gap)) return `\n\n${separators}`;
  return /[\n\r\u2028]/.test(gap) ? `\n${separators}` : " ";
}
