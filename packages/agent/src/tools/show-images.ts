/** The results of the tool `read` for images and scanned PDFs. The model gets the images after the results. */

import {
  type DocumentText,
  MAX_SCANNED_PAGES,
  type ScannedPage,
} from "@platform/documents/document";
import { runDocumentWorker } from "@platform/documents/run-document-worker";
import type { JSONValue } from "ai";
import { storeImage } from "../tool-images.ts";
import { type ToolContext, toolFailure } from "./tool.ts";

const WHEN = "after the results of this step, and in this turn only";
const UNREAD = "because the model of this chat does not read images.";

interface Size {
  readonly width: number;
  readonly height: number;
}

interface ImageFile {
  readonly format: "PNG" | "JPEG" | "GIF" | "WebP";
  /** Undefined for a damaged file. */
  readonly size: Size | undefined;
}

/** Returns the format and the size of an image by its first bytes, without decoding it; undefined for another file. */
export function imageOf(file: Uint8Array): ImageFile | undefined {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const head = bytes.toString("latin1", 0, 30);
  const sized = (format: ImageFile["format"], headBytes: number, read: () => Size | undefined) => {
    const size = bytes.length < headBytes ? undefined : read();
    return { format, size: size && Math.min(size.width, size.height) > 0 ? size : undefined };
  };
  if (head.startsWith("\x89PNG\r\n\x1a\n")) {
    return sized("PNG", 24, () => sizeOf(bytes.readUInt32BE(16), bytes.readUInt32BE(20)));
  }
  if (/^GIF8[79]a/.test(head)) {
    return sized("GIF", 10, () => sizeOf(bytes.readUInt16LE(6), bytes.readUInt16LE(8)));
  }
  if (/^RIFF.{4}WEBP/s.test(head)) return sized("WebP", 30, () => sizeOfWebp(bytes, head));
  if (head.startsWith("\xff\xd8\xff")) return sized("JPEG", 4, () => sizeOfJpeg(bytes));
  return undefined;
}

const sizeOf = (width: number, height: number): Size => ({ width, height });

/** See RFC 9649, sections 2.5 to 2.7. */
function sizeOfWebp(bytes: Buffer, head: string): Size | undefined {
  switch (head.slice(12, 16)) {
    case "VP8 ":
      return sizeOf(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff);
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return sizeOf((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1);
    }
    case "VP8X":
      return sizeOf(bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1);
    default:
      return undefined;
  }
}

/** More than any camera or program writes. A file of fill bytes would take long. */
const MAX_MARKERS = 10_000;

/** Finds the frame header among the segments before the pixels. See ITU-T T.81, section B.2. */
function sizeOfJpeg(bytes: Buffer): Size | undefined {
  let at = 2;
  for (let markers = 0; markers < MAX_MARKERS; markers++) {
    if (at + 9 > bytes.length || bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return sizeOf(bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5));
    // A marker may be preceded by fill bytes.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** Returns an image for a model that reads images, and its description for any other. */
export async function showImage(
  { format, size }: ImageFile,
  file: Uint8Array,
  filePath: string,
  { images, addSources, sandbox }: ToolContext,
): Promise<JSONValue> {
  addSources({ kind: "file", name: filePath });
  if (!size) return toolFailure(`${filePath} is damaged or no ${format}`);
  const { width, height } = size;
  const about = `${format} image, ${width} x ${height} px, ${file.byteLength} bytes.`;
  if (!(await images.areRead())) {
    return { filePath, content: `${about} It is not shown, ${UNREAD}` };
  }
  if (width * height > images.maxPixels) {
    const limit = `more than ${images.maxPixels / 1e6} megapixels`;
    return toolFailure(`${filePath} has ${width} x ${height} px, ${limit}: make it smaller`);
  }
  const shown = await images.shrink(file);
  if (!shown) return toolFailure(`${filePath} cannot be decoded: save it again as PNG or JPEG`);
  const stored = await storeImage(sandbox, shown);
  if (!stored) return toolFailure(`${filePath} is too large to be shown: make it smaller`);
  return { filePath, content: `${about} It is shown ${WHEN}.`, images: [stored.path] };
}

/** Returns pages of a scanned PDF for a model that reads images, and its description for any other. */
export async function showPages(
  { about, scannedPages = 0 }: DocumentText,
  file: Uint8Array,
  filePath: string,
  [from, limit]: readonly [from: number, limit: number],
  { documents, images: input, sandbox, signal }: ToolContext,
): Promise<JSONValue> {
  if (!(await input.areRead())) {
    return { filePath, content: `${about} They are not shown, ${UNREAD}` };
  }
  if (from > scannedPages) return toolFailure(`${filePath} has only ${scannedPages} pages`);
  const to = Math.min(scannedPages, from + Math.min(limit, MAX_SCANNED_PAGES) - 1);
  const task = { kind: "pages", bytes: file, from, to } as const;
  const made = await runDocumentWorker<{ images: ScannedPage[] }>(documents, task, signal);
  if (typeof made === "string") return toolFailure(`${filePath} ${made}`);
  const pages: number[] = [];
  const images: string[] = [];
  for (const { number, png } of made.images) {
    const stored = await storeImage(sandbox, png);
    if (!stored) continue;
    pages.push(number);
    images.push(stored.path);
  }
  const omitted = Array.from({ length: to - from + 1 }, (_, index) => from + index).filter(
    (page) => !pages.includes(page),
  );
  const content = [
    about,
    ...(pages.length > 0 ? [`Shown in gray ${WHEN}: pages ${pages.join(", ")}.`] : []),
    ...(omitted.length > 0
      ? [`Not shown, because they are not one image each: pages ${omitted.join(", ")}.`]
      : []),
    ...(to < scannedPages ? [`For the pages from ${to + 1} on, pass offset ${to + 1}.`] : []),
  ].join(" ");
  return { filePath, content, pages, images, truncated: to < scannedPages };
}
