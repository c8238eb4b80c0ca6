import { z } from "zod";
import { cut, MAX_OUTPUT_CHARS } from "./limits.ts";
import { agentTool, toolFailure } from "./tool.ts";

/**
 * The text is raw, without line numbers: `write` replaces a whole file, so what a model reads is
 * what it copies, and numbers in it would end up in files. `startLine` says where a part begins.
 */
export const read = agentTool({
  name: "read",
  description: `Read a text file of the sandbox.
- Gives {filePath, content, startLine, endLine, totalLines, truncated}; content is the raw text, without line numbers.
- For a large file pass offset (first line, from 1) and limit (number of lines); at most ${MAX_OUTPUT_CHARS} characters come back, and "truncated" says when there is more.
- Binary files are refused.`,
  input: z.object({
    filePath: z.string().min(1).describe("Absolute, or relative to the sandbox's home"),
    offset: z.int().min(1).optional().describe("First line to read, counted from 1"),
    limit: z.int().min(1).optional().describe("Number of lines to read"),
  }),
  async execute({ filePath, offset = 1, limit }, context) {
    const bytes = await context.sandbox.readFile(filePath);
    const text = decodeText(bytes);
    if (text === null) {
      return toolFailure(
        `${filePath} is a binary file of ${bytes.byteLength} bytes; use bash to inspect it`,
      );
    }
    const lines = text === "" ? [] : text.split(/(?<=\n)/);
    if (offset > Math.max(1, lines.length)) {
      return toolFailure(`${filePath} has only ${lines.length} lines`);
    }
    const wanted = lines.slice(offset - 1, limit === undefined ? undefined : offset - 1 + limit);
    const shown = cut(wanted.join(""));
    const shownLines = shown.truncated ? shown.text.split("\n").length : wanted.length;
    const endLine = offset - 1 + shownLines;
    return {
      filePath,
      content: shown.text,
      startLine: offset,
      endLine,
      totalLines: lines.length,
      truncated: shown.truncated || endLine < lines.length,
    };
  },
});

/** Null for what is not UTF-8 text. */
function decodeText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
