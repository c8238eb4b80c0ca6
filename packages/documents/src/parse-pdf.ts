/** Reads PDF documents: text by lines, fields of forms at their place, and notes. */
import { readFile } from "node:fs/promises";
import { runtimePath } from "@platform/kit/runtime-path";
import { getDocumentProxy } from "unpdf";
import {
  countOf,
  DocumentError,
  type DocumentText,
  increment,
  omittedText,
  PROTECTED,
  type Section,
} from "./document.ts";

const MAX_PAGES = 2_000;
const CMAPS = runtimePath(process.cwd(), "node_modules", "pdfjs-dist", "cmaps");
/** A page with a larger share of characters without meaning has a font without a character map. */
const MAX_UNMAPPED_SHARE = 0.05;
const FIELD_SIZE = 10;
const HIDDEN_FLAGS = 2 | 32;

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;
type Page = Awaited<ReturnType<Pdf["getPage"]>>;

/** Reads the character maps of fonts. A hostile document states their names. */
class CharacterMaps {
  async fetch({ kind, filename }: { readonly kind: string; readonly filename: string }) {
    if (kind !== "cMapUrl" || !/^[\w-]+\.bcmap$/.test(filename)) throw new Error("No such file");
    return new Uint8Array(await readFile(runtimePath(CMAPS, filename)));
  }
}

/** @throws DocumentError for a protected one, or an error of the library for a damaged one */
export const openPdf = (
  bytes: Uint8Array,
  options: NonNullable<Parameters<typeof getDocumentProxy>[1]> = {},
): Promise<Pdf> => {
  const maps = { BinaryDataFactory: CharacterMaps, useWorkerFetch: false, cMapPacked: true };
  const given = { verbosity: 0, ...maps, ...options };
  return getDocumentProxy(new Uint8Array(bytes), given).catch((error: unknown) => {
    const { name = "", message = "" } = error instanceof Error ? error : {};
    const isProtected = name === "PasswordException" || /encrypt/i.test(message);
    throw isProtected ? new DocumentError(PROTECTED) : error;
  });
};

/** @throws as `openPdf` */
export async function parsePdf(bytes: Uint8Array): Promise<DocumentText> {
  const pdf = await openPdf(bytes);
  const sections: Section[] = [];
  const empty: number[] = [];
  const unmapped: number[] = [];
  const counts = new Map<string, number>();
  const read = Math.min(pdf.numPages, MAX_PAGES);
  for (let number = 1; number <= read; number++) {
    const page = await pdf.getPage(number);
    const { text, isEmpty, isUnmapped } = await textOfPage(page, counts);
    if (isEmpty) empty.push(number);
    if (isUnmapped) unmapped.push(number);
    sections.push({ title: `Page ${number}`, text });
    page.cleanup();
  }
  const { info } = await pdf.getMetadata();
  const attachments = await pdf.getAttachments();
  for (const _ of Object.keys(attachments ?? {})) increment(counts, "attached file");
  if (Reflect.get(info, "IsXFAPresent") === true) increment(counts, "XFA form");
  const notes = [
    `${countOf(pdf.numPages, "page")}.`,
    ...(read < pdf.numPages ? [`Only the first ${read} are read.`] : []),
    ...(empty.length === read
      ? ["It has no text: its pages are images."]
      : empty.length > 0
        ? [`Without text, perhaps images: ${rangesOf(empty)}.`]
        : []),
    ...(unmapped.length > 0 ? [`Unreadable text without CMap on ${pagesText(unmapped)}.`] : []),
  ];
  const scan = empty.length === read && { scannedPages: pdf.numPages };
  return { about: `PDF, ${notes.join(" ")}${omittedText(counts)}`, sections, sheets: [], ...scan };
}

/** A text in coordinates in which it runs from left to right, and lines from top to bottom. */
interface Placed {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly size: number;
  /** In degrees. */
  readonly angle: number;
  readonly endsLine: boolean;
}

async function textOfPage(page: Page, counts: Map<string, number>) {
  const { items } = await page.getTextContent();
  const viewport = page.getViewport({ scale: 1 });
  const placed = items.flatMap((item) =>
    "str" in item ? [placeOf(item, viewport.transform)] : [],
  );
  const own = Array.from(placed, ({ text }) => text.replace(/\s/g, "")).join("");
  const strange = own.match(/[\p{Cc}\p{Co}\ufffd]/gu)?.length ?? 0;
  const notes: string[] = [];
  const fields: Placed[] = [];
  for (const annotation of await page.getAnnotations({ intent: "any" })) {
    const text = textOfAnnotation(annotation, counts);
    if (text === "") continue;
    const isPlaced = annotation.subtype === "Widget" || annotation.subtype === "FreeText";
    if (isPlaced) fields.push(boxOf(text, viewport.convertToViewportRectangle(annotation.rect)));
    else notes.push(text);
  }
  fields.sort((one, other) => one.y - other.y || one.x - other.x);
  for (const field of fields) insertField(placed, field);
  return {
    text: [textOfItems(placed), ...notes].join("\n").trim(),
    isEmpty: own === "" && fields.length === 0,
    isUnmapped: strange > own.length * MAX_UNMAPPED_SHARE,
  };
}

type Item = Awaited<ReturnType<Page["getTextContent"]>>["items"][number];

function placeOf(
  { str, hasEOL, width, height, transform }: Extract<Item, { str: string }>,
  viewport: readonly number[],
): Placed {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = viewport;
  const [along = 1, across = 0, , , left = 0, bottom = 0]: readonly number[] = transform;
  const direction = Math.atan2(b * along + d * across, a * along + c * across);
  const [cos, sin] = [Math.cos(direction), Math.sin(direction)];
  const [x, y] = [a * left + c * bottom + e, b * left + d * bottom + f];
  return {
    ...{ text: str, endsLine: hasEOL, width, size: height || FIELD_SIZE },
    ...{ x: x * cos + y * sin, y: y * cos - x * sin },
    angle: Math.round((direction * 180) / Math.PI),
  };
}

function boxOf(text: string, [x1 = 0, y1 = 0, x2 = 0, y2 = 0]: readonly number[]): Placed {
  const [top, height] = [Math.min(y1, y2), Math.abs(y2 - y1)];
  // The first line of a large field, and the middle of a small one.
  const y = height > 3 * FIELD_SIZE ? top + FIELD_SIZE : top + height / 2 + FIELD_SIZE / 3;
  const place = { x: Math.min(x1, x2), y, width: Math.abs(x2 - x1), size: FIELD_SIZE };
  return { text, ...place, angle: 0, endsLine: false };
}

/** Inserts a field after the text to its left, or else after the last line above it. */
function insertField(placed: Placed[], field: Placed): void {
  let left = -1;
  let above = -1;
  for (const [place, { text, x, y, angle }] of placed.entries()) {
    if (angle !== 0 || text.trim() === "") continue;
    const isSameLine = Math.abs(y - field.y) < 0.75 * FIELD_SIZE;
    if (isSameLine && x <= field.x && x >= (placed[left]?.x ?? x)) left = place;
    if (!isSameLine && y < field.y && y >= (placed[above]?.y ?? y)) above = place;
  }
  const label = placed[left];
  if (!label) placed.splice(above + 1, 0, { ...field, endsLine: true });
  else {
    const { y, angle, endsLine } = label;
    placed.splice(left, 1, { ...label, endsLine: false }, { ...field, y, angle, endsLine });
  }
}

/** Joins the texts of a page in their order. A wide gap in a line is that between two columns. */
function textOfItems(items: readonly Placed[]): string {
  let text = "";
  let end: Pick<Placed, "x" | "y" | "angle"> | undefined;
  for (const item of items) {
    const { x, y, size, angle } = item;
    // A space of any width may stand between two columns.
    if (item.text.trim() !== "") {
      const isSameLine = end?.angle === angle && Math.abs(end.y - y) < size / 2;
      const gap = isSameLine && end ? x - end.x : 0;
      const isSpaced = /^\s/.test(item.text) || /\s/.test(text.at(-1) ?? " ");
      if (end && !isSameLine && !text.endsWith("\n")) text += "\n";
      else if (gap > 1.5 * size) text += isSpaced ? "| " : " | ";
      else if (gap > 0.15 * size && !isSpaced) text += " ";
      text += item.text;
      end = { x: x + item.width, y, angle };
    }
    if (item.endsLine && !text.endsWith("\n")) text += "\n";
    if (item.endsLine) end = undefined;
  }
  return text.trim();
}

/** An annotation as the library describes it; what applies depends on its kind. */
interface Annotation {
  readonly subtype?: string;
  readonly annotationFlags?: number;
  readonly contentsObj?: { readonly str: string };
  readonly titleObj?: { readonly str: string };
  readonly fieldName?: string;
  readonly fieldType?: string | null;
  readonly fieldValue?: unknown;
  readonly alternativeText?: string;
  readonly checkBox?: boolean;
  readonly radioButton?: boolean;
  readonly pushButton?: boolean;
  readonly exportValue?: string;
  readonly buttonValue?: string | null;
  readonly options?: readonly { readonly exportValue: string; readonly displayValue: string }[];
}

/** Returns a field as `name: value`, or the text of a note. Counts omitted annotations. */
function textOfAnnotation(annotation: Annotation, counts: Map<string, number>): string {
  const { subtype = "", annotationFlags = 0, pushButton } = annotation;
  if (subtype === "Link" || subtype === "Popup" || pushButton) return "";
  const isField = subtype === "Widget";
  if (annotationFlags & HIDDEN_FLAGS) {
    increment(counts, isField ? "hidden form field" : "hidden annotation");
    return "";
  }
  if (isField) return textOfField(annotation);
  const text = annotation.contentsObj?.str.trim() ?? "";
  if (text === "") increment(counts, `${subtype} annotation`);
  const author = annotation.titleObj?.str;
  if (text === "" || subtype === "FreeText") return text;
  return `[${subtype} note${author ? ` by ${author}` : ""}: ${text}]`;
}

function textOfField(field: Annotation): string {
  const { fieldValue, exportValue, buttonValue, checkBox, radioButton, options = [] } = field;
  const name = field.fieldName || field.alternativeText || "unnamed field";
  if (checkBox || radioButton) {
    const own = radioButton ? buttonValue : exportValue;
    const isOn = Boolean(fieldValue) && fieldValue !== "Off" && (own ?? fieldValue) === fieldValue;
    const option = radioButton && own ? ` (${own})` : "";
    return `${name}${option}: ${isOn ? "checked" : "not checked"}`;
  }
  if (field.fieldType === "Sig") return `${name}: (signature field)`;
  const values = [fieldValue].flat().filter((value) => typeof value === "string" && value !== "");
  const shown = values.map(
    (value) => options.find((option) => option.exportValue === value)?.displayValue ?? value,
  );
  return `${name}: ${shown.join(", ").trim() || "(empty)"}`;
}

const pagesText = (pages: readonly number[]): string =>
  `${pages.length === 1 ? "page" : "pages"} ${rangesOf(pages)}`;

/** Returns `3–9, 12` of ascending numbers, and at most twenty ranges. */
function rangesOf(numbers: readonly number[]): string {
  const ranges: [from: number, to: number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  const texts = ranges.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
  return texts.slice(0, 20).join(", ") + (texts.length > 20 ? " and others" : "");
}
