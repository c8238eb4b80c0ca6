import { z } from "zod";
import { writeDocument, writtenFormatOf } from "../documents/write-document.ts";
import { changeFile } from "./change-file.ts";
import { countLines, MAX_PATH_CHARS } from "./limits.ts";
import { agentTool, toolFailure } from "./tool.ts";

export const write = agentTool({
  name: "write",
  description: `Write a file of the sandbox as a whole: text, or a document (XLSX, DOCX, PDF).
- Makes missing folders and replaces a file that is there. To change a part of a text file, use edit.
- A path that ends in .xlsx makes a spreadsheet of one sheet: content is CSV. Plain numbers and dates (YYYY-MM-DD) become numbers and dates; everything else stays text, such as a UPC with leading zeros, and nothing becomes a formula.
- A path that ends in .docx or .pdf makes that document: content is Markdown with headings, lists, tables, quotes, code and links. Images are only named. PDF shows Latin, Greek and Cyrillic letters; write other scripts as .docx.
- Gives {filePath, bytes, lines}; for a document {filePath, bytes, format} with its rows and columns, or its pages.`,
  input: z.object({
    filePath: z
      .string()
      .min(1)
      .max(MAX_PATH_CHARS)
      .describe("Absolute, or relative to the sandbox's home"),
    content: z
      .string()
      .describe("The complete text of the file, or the CSV or Markdown of a document"),
  }),
  async execute({ filePath, content }, context) {
    const format = writtenFormatOf(filePath);
    if (format) {
      const { documents, sandbox, signal } = context;
      const source = { path: filePath, format, content };
      const document = await writeDocument(documents, source, signal);
      if (typeof document === "string") return toolFailure(`${filePath} ${document}`);
      const { bytes, ...counts } = document;
      await changeFile(context, filePath, () => sandbox.writeFile(filePath, bytes));
      return { filePath, bytes: bytes.byteLength, format, ...counts };
    }
    const bytes = Buffer.from(content);
    await changeFile(context, filePath, () => context.sandbox.writeFile(filePath, bytes));
    return { filePath, bytes: bytes.byteLength, lines: countLines(bytes) };
  },
});
