/** Reads mail as its recipient sees it: the best of its parts as text, without hidden passages. */
import { decompressRTF } from "@kenjiuno/decompressrtf";
import MsgReader from "@kenjiuno/msgreader";
import { Parser } from "htmlparser2";
import PostalMime from "postal-mime";
import { decodeText } from "./decode-text.ts";
import { DocumentError, type DocumentText } from "./document.ts";
import { countOf, increment, omittedText } from "./office-package.ts";
import { parseRtf } from "./parse-rtf.ts";

/** Node gives the module of a CommonJS package as its default export, and bundlers give the export of that name. */
const Reader =
  (MsgReader as typeof MsgReader & { default?: typeof MsgReader }).default ?? MsgReader;
/** A text part that is shorter by this only says that there is an HTML part. */
const STUB_SHARE = 0.25;
const MAX_LINK_CHARS = 2_000;

interface Mail {
  readonly from: string;
  readonly to: string;
  readonly cc: string;
  readonly date: string;
  readonly subject: string;
  readonly attachments: readonly string[];
  readonly text: string;
  readonly html: string;
}

export async function parseEml(bytes: Uint8Array): Promise<DocumentText> {
  const mail = await PostalMime.parse(bytes);
  const people = (list: readonly { name?: string; address?: string }[] = []) =>
    list.map(({ name, address }) => [name, address && `<${address}>`].filter(Boolean).join(" "));
  return mailText("EML", {
    from: people(mail.from ? [mail.from] : []).join(", "),
    to: people(mail.to).join(", "),
    cc: people(mail.cc).join(", "),
    date: mail.date ?? "",
    subject: mail.subject ?? "",
    attachments: mail.attachments.map(({ filename, mimeType, content }) => {
      const size = typeof content === "string" ? Buffer.byteLength(content) : content.byteLength;
      return `${filename ?? "unnamed"} (${mimeType}, ${countOf(size, "byte")})`;
    }),
    text: mail.text ?? "",
    html: mail.html ?? "",
  });
}

/** @throws DocumentError for a file that is no message */
export function parseMsg(bytes: Uint8Array): DocumentText {
  const mail = new Reader(new Uint8Array(bytes).buffer).getFileData();
  if (mail.error) throw new DocumentError("is damaged or no message");
  const recipients = (type: string) =>
    (mail.recipients ?? [])
      .filter(({ recipType = "to" }) => recipType === type)
      .map(({ name, email, smtpAddress }) => `${name ?? ""} <${smtpAddress ?? email ?? ""}>`)
      .join(", ");
  const body = mail.body ?? "";
  return mailText("MSG", {
    from: `${mail.senderName ?? ""} <${mail.senderSmtpAddress ?? mail.senderEmail ?? ""}>`,
    to: recipients("to"),
    cc: recipients("cc"),
    date: mail.messageDeliveryTime ?? mail.clientSubmitTime ?? "",
    subject: mail.subject ?? "",
    attachments: (mail.attachments ?? []).map(
      ({ fileName, name, contentLength }) =>
        `${fileName ?? name ?? "unnamed"}${contentLength === undefined ? "" : ` (${countOf(contentLength, "byte")})`}`,
    ),
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
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return decodeText(bytes)?.text ?? Buffer.from(bytes).toString();
  }
}

function mailText(format: "EML" | "MSG", mail: Mail): DocumentText {
  const shown = textOfHtml(mail.html);
  const length = (text: string) => text.replace(/\s+/g, "").length;
  const isStub = length(mail.text) < STUB_SHARE * length(shown.text);
  const text = isStub ? shown.text : mail.text.replace(/\r\n?/g, "\n").trim();
  const named = mail.attachments.length > 0 ? " Attachments are only named." : "";
  const fields = {
    From: mail.from,
    To: mail.to,
    Cc: mail.cc,
    Date: mail.date,
    Subject: mail.subject,
    Attachments: mail.attachments.join(", "),
  };
  const lines = Object.entries(fields).flatMap(([name, value]) => {
    const line = value.replace(/\s+/g, " ").trim();
    return line === "" || line === "<>" ? [] : [`${name}: ${line}`];
  });
  if (lines.length === 0 && text === "") throw new DocumentError("is damaged or no message");
  return {
    about: `${format}.${named}${isStub ? omittedText(shown.omitted) : ""}`,
    sections: [{ title: "", text: [...lines, "", text].join("\n") }],
    sheets: [],
  };
}

const SKIPPED = new Set(["script", "style", "head", "title", "template", "noscript", "object"]);
const BLOCKS = new Set([
  ...["address", "article", "aside", "blockquote", "center", "div", "dl", "dt", "dd", "fieldset"],
  ...["figure", "figcaption", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr"],
  ...["li", "main", "nav", "ol", "p", "pre", "section", "table", "caption", "tr", "ul"],
]);
const VOID = new Set(["br", "hr", "img", "input", "meta", "link", "wbr", "col", "area", "base"]);
const HIDDEN = /display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all/i;

/** Returns the text of HTML as it is displayed, and how much is not shown of it. */
function textOfHtml(html: string): { text: string; omitted: ReadonlyMap<string, number> } {
  const omitted = new Map<string, number>();
  const parts: string[] = [];
  const lists: number[] = [];
  const links: { href: string; from: number }[] = [];
  let isSkipping = 0;
  let isRaw = 0;
  /** Written before the next text: line breaks, or separators of cells. */
  let breaks = 0;
  let cells = 0;
  let column = 0;
  /** Whether no cell of the row has a text yet. */
  let isRowStart = false;
  let hasGap = false;

  const breakLine = (count = 1) => {
    // The paragraph of a cell does not begin a line.
    if (cells === 0 && !isRowStart) breaks = Math.max(breaks, count);
    hasGap = false;
  };
  const write = (text: string) => {
    if (parts.length > 0) parts.push("\n".repeat(breaks));
    const isLineStart = parts.length === 0 || breaks > 0;
    if (cells > 0) parts.push(" | ".repeat(cells));
    else if (hasGap && !isLineStart) parts.push(" ");
    [breaks, cells, isRowStart, hasGap] = [0, 0, false, false];
    parts.push(text);
  };
  const parser = new Parser(
    {
      onopentag(name, { style = "", hidden, href, alt, ...attributes }) {
        const isHidden = hidden !== undefined || HIDDEN.test(style);
        if (isSkipping > 0 || SKIPPED.has(name) || (isHidden && !VOID.has(name))) {
          if (isSkipping === 0 && !SKIPPED.has(name)) increment(omitted, "hidden passage");
          if (!VOID.has(name)) isSkipping++;
          return;
        }
        if (name === "tr") {
          [cells, isRowStart] = [0, false];
          breakLine();
          [column, isRowStart] = [0, true];
        } else if (name === "td" || name === "th") {
          if (column++ > 0) cells++;
          if (!isRowStart) breaks = 0;
          hasGap = false;
        } else if (name === "br") {
          breaks = Math.min(breaks + 1, 2);
          hasGap = false;
        } else if (BLOCKS.has(name)) {
          if (name === "table") [cells, isRowStart] = [0, false];
          breakLine(/^(?:p|h\d|blockquote)$/.test(name) ? 2 : 1);
          if (name === "pre") isRaw++;
          if (name === "ul") lists.push(0);
          if (name === "ol") lists.push(Number.parseInt(attributes.start ?? "1", 10) || 1);
          if (/^h\d$/.test(name)) write(`${"#".repeat(Number(name[1]))} `);
          if (name === "li") {
            const number = lists.at(-1) ?? 0;
            if (number > 0) lists[lists.length - 1] = number + 1;
            write(
              `${"  ".repeat(Math.min(9, Math.max(0, lists.length - 1)))}${number > 0 ? `${number}.` : "-"} `,
            );
          }
        } else if (name === "img") {
          if (alt?.trim()) write(`[image: ${alt.trim()}]`);
          else increment(omitted, "image");
        } else if (name === "a") {
          // Of links in links, which HTML does not know, the outer one counts.
          links.push({ href: links.length > 0 ? "" : (href ?? ""), from: parts.length });
        }
      },
      ontext(text) {
        if (isSkipping > 0) return;
        if (isRaw > 0) return write(text.replace(/\r\n?/g, "\n"));
        const words = text.replace(/\s+/g, " ");
        hasGap ||= words.startsWith(" ");
        if (words.trim() !== "") write(words.trim());
        hasGap ||= words.endsWith(" ");
      },
      onclosetag(name) {
        if (VOID.has(name)) return;
        if (isSkipping > 0) {
          isSkipping--;
          return;
        }
        if (name === "a") {
          const { href = "", from = 0 } = links.pop() ?? {};
          if (!/^(?:https?|mailto|tel):/i.test(href) || href.length > MAX_LINK_CHARS) return;
          const label = parts.slice(from).join("").trim();
          if (label !== "" && !href.includes(label)) write(` <${href}>`);
        } else if (name === "tr") [cells, isRowStart, breaks] = [0, false, Math.max(1, breaks)];
        else if (BLOCKS.has(name)) {
          if (name === "pre") isRaw--;
          if (name === "ul" || name === "ol") lists.pop();
          breakLine(/^(?:p|h\d|blockquote)$/.test(name) ? 2 : 1);
        }
      },
    },
    { decodeEntities: true },
  );
  parser.end(html);
  const text = parts
    .join("")
    .replace(/[^\S\n]+\n/g, "\n")
    .replace(/\n{3,}/g, "\n\n");
  return { text: text.trim(), omitted };
}
