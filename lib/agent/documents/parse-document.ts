/** Reads documents, in the worker of `read-document.ts`. */
import MsgReader from "@kenjiuno/msgreader";
import mammoth from "mammoth";
import PostalMime from "postal-mime";
import { getDocumentProxy } from "unpdf";
import {
  DocumentError,
  type DocumentFormat,
  type DocumentText,
  PROTECTED,
  type Section,
} from "./document.ts";
import { parseSpreadsheet } from "./parse-spreadsheet.ts";
import { readZip } from "./read-zip.ts";

const MAX_PAGES = 2_000;

/** @throws DocumentError, or an error of a library for a damaged document */
export async function parseDocument(
  format: DocumentFormat,
  bytes: Uint8Array,
): Promise<DocumentText> {
  if (format === "XLS" || format === "MSG") checkOle(bytes);
  switch (format) {
    case "PDF":
      return parsePdf(bytes);
    case "DOCX":
      return parseDocx(bytes);
    case "PPTX":
      return parsePptx(bytes);
    case "XLSX":
    case "XLS":
    case "ODS":
      return parseSpreadsheet(format, bytes);
    case "EML":
      return parseEml(bytes);
    case "MSG":
      return parseMsg(bytes);
    case "RTF":
      return { about: "RTF.", sections: [{ title: "", text: textOfRtf(bytes) }], sheets: [] };
  }
}

/** Old and encrypted documents of all kinds are containers of one format, whose entries have UTF-16 names. */
function checkOle(bytes: Uint8Array): void {
  const has = (name: string) => Buffer.from(bytes).includes(Buffer.from(name, "utf16le"));
  if (has("EncryptedPackage")) throw new DocumentError(PROTECTED);
  if (has("WordDocument")) throw new DocumentError("is a DOC of an old Word: save it as DOCX");
  if (has("PowerPoint Document")) {
    throw new DocumentError("is a PPT of an old PowerPoint: save it as PPTX");
  }
}

/** @throws DocumentError for a protected one, or an error of the library for a damaged one */
export const openPdf = (
  bytes: Uint8Array,
  options: NonNullable<Parameters<typeof getDocumentProxy>[1]> = {},
) =>
  getDocumentProxy(new Uint8Array(bytes), options).catch((error: unknown) => {
    const isProtected = error instanceof Error && error.name === "PasswordException";
    throw isProtected ? new DocumentError(PROTECTED) : error;
  });

async function parsePdf(bytes: Uint8Array): Promise<DocumentText> {
  const pdf = await openPdf(bytes);
  const sections: Section[] = [];
  const empty: number[] = [];
  const read = Math.min(pdf.numPages, MAX_PAGES);
  for (let number = 1; number <= read; number++) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const text = textOfItems(items);
    if (text.trim() === "") empty.push(number);
    sections.push({ title: `Page ${number}`, text });
    page.cleanup();
  }
  const notes = [
    `${countOf(pdf.numPages, "page")}.`,
    ...(read < pdf.numPages ? [`Only the first ${read} are read.`] : []),
    ...(empty.length === read
      ? ["It has no text: its pages are images."]
      : empty.length > 0
        ? [`Without text, perhaps images: ${listOf(empty)}.`]
        : []),
  ];
  const scan = empty.length === read && { scannedPages: pdf.numPages };
  return { about: `PDF, ${notes.join(" ")}`, sections, sheets: [], ...scan };
}

interface TextItem {
  readonly str: string;
  readonly hasEOL: boolean;
  readonly width: number;
  readonly height: number;
  readonly transform: readonly number[];
}

/** Joins the texts of a page in their order. A wide gap in a line is that between two columns. */
function textOfItems(items: readonly object[]): string {
  let text = "";
  let end: { x: number; y: number } | undefined;
  for (const item of items as readonly Partial<TextItem>[]) {
    const { str = "", transform = [], width = 0, height = 0, hasEOL = false } = item;
    const [, , , , x = 0, y = 0] = transform;
    // A space of any width may stand between two columns.
    if (str.trim() !== "") {
      const size = height || 10;
      const isSameLine = end !== undefined && Math.abs(end.y - y) < size / 2;
      const gap = isSameLine && end ? x - end.x : 0;
      const isSpaced = /^\s/.test(str) || /\s/.test(text.at(-1) ?? " ");
      if (end && !isSameLine && !text.endsWith("\n")) text += "\n";
      else if (gap > 1.5 * size) text += isSpaced ? "| " : " | ";
      else if (gap > 0.15 * size && !isSpaced) text += " ";
      text += str;
      end = { x: x + width, y };
    }
    if (hasEOL && !text.endsWith("\n")) text += "\n";
    if (hasEOL) end = undefined;
  }
  return text.trim();
}

async function parseDocx(bytes: Uint8Array): Promise<DocumentText> {
  const { names, entries } = readZip(bytes, (name) => name === "word/document.xml");
  const xml = new TextDecoder().decode(entries.get("word/document.xml"));
  let images = 0;
  const convertImage = mammoth.images.imgElement(async () => {
    images++;
    return { src: "" };
  });
  const { value: html } = await mammoth.convertToHtml(
    { buffer: Buffer.from(bytes) },
    { convertImage },
  );
  const has = (part: RegExp) => names.some((name) => part.test(name));
  const omitted = [
    ...(images > 0 ? [countOf(images, "image")] : []),
    ...(has(/^word\/comments\.xml$/) ? ["comments"] : []),
    ...(has(/^word\/(?:header|footer)\d*\.xml$/) ? ["headers and footers"] : []),
    ...(has(/vbaProject/) ? ["macros"] : []),
  ];
  const isTracked = /<w:(?:ins|del) /.test(xml);
  const about = [
    "DOCX.",
    ...(omitted.length > 0 ? [`Omitted: ${omitted.join(", ")}.`] : []),
    ...(isTracked ? ["Tracked changes are shown as accepted."] : []),
  ];
  return { about: about.join(" "), sections: [{ title: "", text: textOfHtml(html) }], sheets: [] };
}

/** Converts the HTML that a library has written: headings, lists, and tables as rows. */
function textOfHtml(html: string): string {
  const cells = html.replace(/<(t[dh])\b[^>]*>([\s\S]*?)<\/\1>/g, (_, __, inner: string) => {
    return `${inner
      .replace(/<[^>]*>/g, " ")
      .replace(/\s+/g, " ")
      .trim()} | `;
  });
  return cells
    .replace(/<h([1-6])\b[^>]*>/g, (_, level) => `\n${"#".repeat(Number(level))} `)
    .replace(/<li\b[^>]*>/g, "- ")
    .replace(/<(?:br|ul|ol)\b[^>]*>|<\/(?:p|h[1-6]|li|ul|ol|table)>/g, "\n")
    .replace(/(?: \| )?<\/tr>/g, "\n")
    .replace(/<[^>]*>/g, "")
    .replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", apos: "'", nbsp: " " },
};

function parsePptx(bytes: Uint8Array): DocumentText {
  const slide = /^ppt\/slides\/slide(\d+)\.xml$/;
  const { names, entries } = readZip(bytes, (name) => slide.test(name));
  const slides = [...entries]
    .map(([name, xml]) => ({ number: Number(slide.exec(name)?.[1]), xml }))
    .sort((a, b) => a.number - b.number);
  const sections = slides.map(({ number, xml }) => ({
    title: `Slide ${number}`,
    text: new TextDecoder()
      .decode(xml)
      .split("</a:p>")
      .map((paragraph) =>
        [...paragraph.matchAll(/<a:t>([^<]*)<\/a:t>/g)].map(([, t]) => t).join(""),
      )
      .filter((line) => line !== "")
      .map((line) => line.replace(/&(\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole))
      .join("\n"),
  }));
  const hasNotes = names.some((name) => name.startsWith("ppt/notesSlides/"));
  const omitted = ` Omitted: images${hasNotes ? ", speaker notes" : ""}.`;
  return { about: `PPTX, ${countOf(slides.length, "slide")}.${omitted}`, sections, sheets: [] };
}

async function parseEml(bytes: Uint8Array): Promise<DocumentText> {
  const mail = await PostalMime.parse(bytes);
  const people = (list: readonly { name?: string; address?: string }[] = []) =>
    list.map(({ name, address }) => [name, address && `<${address}>`].filter(Boolean).join(" "));
  return mailText("EML", {
    From: people(mail.from ? [mail.from] : []).join(", "),
    To: people(mail.to).join(", "),
    Cc: people(mail.cc).join(", "),
    Date: mail.date ?? "",
    Subject: mail.subject ?? "",
    Attachments: mail.attachments.map(({ filename }) => filename ?? "unnamed").join(", "),
    text: mail.text ?? textOfHtml(mail.html ?? ""),
  });
}

function parseMsg(bytes: Uint8Array): DocumentText {
  const mail = new MsgReader(new Uint8Array(bytes).buffer).getFileData();
  if (mail.error) throw new DocumentError("is damaged or no message");
  const recipients = (mail.recipients ?? []).map(
    ({ name, email, smtpAddress }) => `${name ?? ""} <${smtpAddress ?? email ?? ""}>`,
  );
  return mailText("MSG", {
    From: `${mail.senderName ?? ""} <${mail.senderSmtpAddress ?? mail.senderEmail ?? ""}>`,
    To: recipients.join(", "),
    Date: mail.messageDeliveryTime ?? mail.clientSubmitTime ?? "",
    Subject: mail.subject ?? "",
    Attachments: (mail.attachments ?? []).map(({ fileName }) => fileName ?? "unnamed").join(", "),
    text: mail.body ?? "",
  });
}

function mailText(
  format: "EML" | "MSG",
  { text, ...fields }: Readonly<Record<string, string>>,
): DocumentText {
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === "" ? [] : [`${name}: ${value}`],
  );
  const about = `${format}${fields.Attachments ? ". Attachments are only named" : ""}.`;
  const sections = [{ title: "", text: [...lines, "", (text ?? "").trim()].join("\n") }];
  return { about, sections, sheets: [] };
}

/** Groups of a RTF document that are no text. */
const HIDDEN = /^\\(?:\*|fonttbl|colortbl|stylesheet|info|pict|header|footer|themedata|object)/;

function textOfRtf(bytes: Uint8Array): string {
  const rtf = Buffer.from(bytes).toString("latin1");
  const decoder = new TextDecoder("windows-1252");
  let text = "";
  let depth = 0;
  /** The depth of the outermost hidden group. */
  let hiddenFrom = Number.POSITIVE_INFINITY;
  /** Characters to skip after a Unicode one, which stand for it in old readers. */
  let skip = 0;
  const token = /\\'([0-9a-f]{2})|\\([a-z]+)(-?\d+)? ?|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n])/gi;
  for (const match of rtf.matchAll(token)) {
    const [, hex, word, value, symbol, brace, plain] = match;
    if (brace === "{") {
      depth++;
      const group = rtf.slice(match.index + 1, match.index + 20);
      if (HIDDEN.test(group)) hiddenFrom = Math.min(hiddenFrom, depth);
    } else if (brace === "}") {
      if (depth === hiddenFrom) hiddenFrom = Number.POSITIVE_INFINITY;
      depth--;
    } else if (depth >= hiddenFrom) continue;
    else if (word === "u") {
      text += String.fromCharCode(Number(value) & 0xffff);
      skip = 1;
    } else if (word === "par" || word === "line" || word === "row") text += "\n";
    else if (word === "tab") text += "\t";
    else if (word === "cell") text += " | ";
    else if (hex !== undefined || plain !== undefined || symbol !== undefined) {
      if (skip > 0 && symbol === undefined) skip--;
      else if (hex) text += decoder.decode(Uint8Array.of(Number.parseInt(hex, 16)));
      else text += plain ?? (symbol === "~" ? " " : /[{}\\]/.test(symbol ?? "") ? symbol : "");
    }
  }
  return text.replaceAll(" | \n", "\n").trim();
}

const countOf = (count: number, unit: string): string =>
  `${count} ${unit}${count === 1 ? "" : "s"}`;

/** Returns `3, 4, 7` and at most twenty numbers. */
const listOf = (numbers: readonly number[]): string =>
  numbers.slice(0, 20).join(", ") + (numbers.length > 20 ? " and others" : "");
