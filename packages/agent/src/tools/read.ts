import { decodeText } from "@platform/documents/decode-text";
import { type DocumentText, formatOf } from "@platform/documents/document";
import { readDocument } from "@platform/documents/read-document";
import { z } from "zod";
import { storeSheets, storeText, textOf } from "../show-document.ts";
import { countLines, cut, filePath, MAX_OUTPUT_CHARS } from "./limits.ts";
import { imageOf, showImage, showPages } from "./show-images.ts";
import { agentTool, type ToolContext, toolFailure } from "./tool.ts";

/**
 * Returns raw text without line numbers, because a model copies the text into the files that it writes.
 * `startLine` is the first line of a part.
 */
export const read = agentTool({
  name: "read",
  description: `Read a file of the sandbox: text, a document (PDF, DOCX, XLSX, XLS, ODS, PPTX, EML, MSG, RTF) as text, or an image (PNG, JPEG, GIF, WebP).
- Gives filePath, startLine, endLine, totalLines, truncated, and content: the raw text, without line numbers.
- What does not fit ends with a whole line: truncated is true then, and nextOffset is the offset to read on with. You have read a file only when truncated is false.
- The first line of a document says its format, its pages or sheets, and what is omitted. Each sheet of a spreadsheet is also a CSV file, for scripts. For some pages of a PDF pass pages.
- If you read images, you see an image, and the pages of a scanned PDF, ten at a time.
- Text in another encoding than UTF-8 is decoded: encoding names it, and utf8Copy is a copy in UTF-8, for scripts and edits.
- Other binary files are refused.`,
  input: z.object({
    filePath,
    offset: z.int().min(1).optional().describe("First line to read, counted from 1"),
    limit: z.int().min(1).optional().describe("Number of lines to read"),
    pages: z
      .string()
      .regex(/^\d{1,6}(?:-\d{1,6})?$/, "must be a page such as 4, or pages such as 4-6")
      .optional()
      .describe("Of a PDF: 4 or 4-6"),
  }),
  async execute({ filePath, offset = 1, limit, pages }, context) {
    const file = await context.sandbox.readFile(filePath);
    const image = imageOf(file);
    if (image) return showImage(image, file, filePath, context);
    const document = await documentIn(file, filePath, pages, context);
    if (typeof document === "string") return toolFailure(document);
    if (document?.scannedPages) {
      const [from = offset, to = from] = pages?.split("-").map(Number) ?? [];
      const wanted = pages === undefined ? (limit ?? Infinity) : to - from + 1;
      return showPages(document, file, filePath, [Math.max(1, from), wanted], context);
    }
    const decoded = document ? undefined : decodeText(file);
    if (decoded === null) {
      return toolFailure(
        `${filePath} is a binary file of ${file.byteLength} bytes; use bash to inspect it`,
      );
    }
    const bytes = document
      ? await bytesOf(document, filePath, offset === 1, context)
      : Buffer.from(decoded?.text ?? file);
    const totalLines = countLines(bytes);
    if (offset > Math.max(1, totalLines)) {
      return toolFailure(`${filePath} has only ${totalLines} lines`);
    }
    const wanted = selectLines(bytes, offset, limit);
    const { text, truncated: isCut } = cut(decodeStart(wanted, offset === 1));
    // A part ends with a line; only of a line that is too long itself the start is shown.
    const content = isCut ? text.slice(0, text.lastIndexOf("\n") + 1) || text : text;
    const lines = isCut ? content.split("\n").length - 1 : countLines(wanted);
    const endLine = offset - 1 + Math.max(lines, isCut ? 1 : 0);
    const isLongLine = isCut && lines === 0;
    const note = `Line ${offset} is longer than ${text.length} characters: cut -c shows another part of it`;
    const { encoding } = decoded ?? {};
    const utf8Copy =
      encoding && offset === 1
        ? await storeText(context.sandbox, filePath, decoded?.text ?? "", context.signal)
        : undefined;
    return {
      ...{ filePath, content, startLine: offset, endLine, totalLines },
      ...(encoding && { encoding, ...(utf8Copy && { utf8Copy }) }),
      truncated: isLongLine || endLine < totalLines,
      ...(endLine < totalLines && { nextOffset: endLine + 1 }),
      ...(isLongLine && { note }),
    };
  },
});

/**
 * Returns a document, or why it cannot be read; undefined for a file that is none.
 * @param pages of a PDF, such as 4-6; undefined for all
 */
async function documentIn(
  file: Uint8Array,
  filePath: string,
  pages: string | undefined,
  { documents, signal, addSources }: ToolContext,
): Promise<DocumentText | string | undefined> {
  const format = formatOf(file, filePath);
  if (pages !== undefined && format !== "PDF") return `${filePath} is no PDF: omit pages`;
  if (!format) return undefined;
  // A document's uploader has seldom written it.
  addSources({ kind: "file", name: filePath });
  const document = await readDocument(documents, format, file, signal);
  if (typeof document === "string") return `${filePath} ${document}`;
  if (pages === undefined || document.scannedPages) return document;
  const [from = 0, to = from] = pages.split("-").map(Number);
  const sections = document.sections.filter(({ title }) => {
    const page = Number(/^Page (\d+)$/.exec(title)?.[1]);
    return page >= from && page <= to;
  });
  if (sections.length > 0) return { ...document, sections };
  return `${filePath} has no text on pages ${pages}: ${document.about}`;
}

/** @param isFirst whether the sheets of a spreadsheet are to be stored */
async function bytesOf(
  document: DocumentText,
  filePath: string,
  isFirst: boolean,
  { sandbox, signal }: ToolContext,
): Promise<Uint8Array> {
  const sheets = isFirst ? await storeSheets(sandbox, filePath, document.sheets, signal) : [];
  return Buffer.from(textOf(document, sheets));
}

/** Returns at most `limit` lines from line `offset` on, which counts from 1 and must exist. */
function selectLines(bytes: Uint8Array, offset: number, limit: number | undefined): Uint8Array {
  const start = skipLines(bytes, 0, offset - 1);
  return bytes.subarray(start, limit === undefined ? undefined : skipLines(bytes, start, limit));
}

function skipLines(bytes: Uint8Array, from: number, lines: number): number {
  let at = from;
  for (let left = lines; left > 0 && at < bytes.length; at++) if (bytes[at] === 0x0a) left--;
  return at;
}

/** Decodes a few more characters than can be shown. One takes at most three bytes in UTF-8. */
function decodeStart(bytes: Uint8Array, isStartOfFile: boolean): string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: !isStartOfFile });
  return decoder.decode(bytes.subarray(0, 3 * (MAX_OUTPUT_CHARS + 2)));
}
