import { isUtf8 } from "node:buffer";
import type { SheetSource } from "@platform/documents/run-document-worker";
import {
  faultOfSheetNames,
  writeDocument,
  writtenFormatOf,
} from "@platform/documents/write-document";
import type { Sandbox } from "@platform/sandbox/port";
import { z } from "zod";
import { changeFile } from "./change-file.ts";
import { countLines, filePath } from "./limits.ts";
import { agentTool, toolFailure } from "./tool.ts";

const MAX_SHEETS = 200;
const MAX_DATA_BYTES = 32 * 1024 * 1024;

const sheet = z
  .object({
    name: z.string().describe("At most 31 characters"),
    csv: z.string().optional().describe("The rows of the sheet"),
    path: filePath.optional().describe("A CSV file of the sandbox with the rows"),
  })
  .refine(({ csv, path }) => (csv === undefined) !== (path === undefined), {
    error: "give either csv or path",
  });

export const write = agentTool({
  name: "write",
  description: `Write a file of the sandbox as a whole: text, or a document (XLSX, DOCX, PDF).
- Makes missing folders and replaces a file that is there. To change a part of a text file, use edit.
- A path that ends in .xlsx makes a spreadsheet: content is the comma-separated CSV of one sheet, or sheets has several. A sheet with path takes the rows of a CSV file, such as one that a script has written: they need not be repeated.
- The first row is the header. A column becomes numbers, dates (YYYY-MM-DD), money (1,234.50 €, $12.00, EUR 12.00) or percentages (18 %) if all its cells are, so leave the others empty; everything else stays text, such as a UPC. A formula such as =SUM(B2:B10) or =ROUND('Q1'!C2*18%,2) works in content and csv; in a file of path it stays text. SUM, AVERAGE, MIN, MAX, COUNT, ROUND, + - * / and references are computed, other functions when the file is opened.
- A path that ends in .docx or .pdf makes that document: content is Markdown with headings, lists, tables, quotes, code and links. Images are only named. PDF shows Latin, Greek and Cyrillic letters; write other scripts as .docx.
- Gives {filePath, bytes, lines}; for a document {filePath, bytes, format} with its rows and columns or its sheets and the number of its formulas (computed, without_value, and as_text for those that are none), or its pages.`,
  input: z
    .object({
      filePath,
      content: z
        .string()
        .optional()
        .describe("The complete text of the file, or the CSV or Markdown of a document"),
      sheets: z
        .array(sheet)
        .min(1)
        .max(MAX_SHEETS)
        .optional()
        .describe("The sheets of a spreadsheet, in place of content"),
    })
    .refine(({ content, sheets }) => (content === undefined) !== (sheets === undefined), {
      error: "give either content or sheets",
    }),
  async execute({ filePath, content = "", sheets }, context) {
    const { documents, sandbox, signal } = context;
    const format = writtenFormatOf(filePath);
    if (sheets && format !== "XLSX") return toolFailure("sheets are for a path that ends in .xlsx");
    if (format) {
      const sources = sheets && (await sourcesOf(sheets, sandbox));
      if (typeof sources === "string") return toolFailure(`${filePath}: ${sources}`);
      const source = sources ?? content;
      const document = await writeDocument(documents, filePath, format, source, signal);
      if (typeof document === "string") return toolFailure(`${filePath} ${document}`);
      const { bytes, ...counts } = document;
      await changeFile(context, filePath, () => sandbox.writeFile(filePath, bytes));
      return { filePath, bytes: bytes.byteLength, format, ...counts };
    }
    const bytes = Buffer.from(content);
    await changeFile(context, filePath, () => sandbox.writeFile(filePath, bytes));
    return { filePath, bytes: bytes.byteLength, lines: countLines(bytes) };
  },
});

/** Returns the sheets with their rows, or why they cannot be written. @throws SandboxError */
async function sourcesOf(
  sheets: readonly z.output<typeof sheet>[],
  sandbox: Sandbox,
): Promise<SheetSource[] | string> {
  const fault = faultOfSheetNames(sheets.map(({ name }) => name));
  if (fault) return fault;
  const sources: SheetSource[] = [];
  let room = MAX_DATA_BYTES;
  for (const { name, csv, path } of sheets) {
    if (path === undefined) {
      sources.push({ name, csv: csv ?? "", hasFormulas: true });
      continue;
    }
    const file = await sandbox.readFile(path);
    room -= file.byteLength;
    if (room < 0)
      return `the files of all sheets have more than ${MAX_DATA_BYTES / 1024 / 1024} MiB`;
    if (!isUtf8(file)) return `${path} is not UTF-8: read it, and use its utf8Copy`;
    sources.push({ name, csv: Buffer.from(file).toString(), hasFormulas: false });
  }
  return sources;
}
