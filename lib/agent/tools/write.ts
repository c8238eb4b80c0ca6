import { z } from "zod";
import { countLines, MAX_PATH_CHARS } from "./limits.ts";
import { agentTool } from "./tool.ts";

export const write = agentTool({
  name: "write",
  description: `Write a text file of the sandbox as a whole.
- Makes missing folders and replaces a file that is there: read it first when you mean to change a part of it, and give the complete new text.
- Gives {filePath, bytes, lines}.`,
  input: z.object({
    filePath: z
      .string()
      .min(1)
      .max(MAX_PATH_CHARS)
      .describe("Absolute, or relative to the sandbox's home"),
    content: z.string().describe("The complete text of the file"),
  }),
  async execute({ filePath, content }, context) {
    const bytes = Buffer.from(content);
    await context.sandbox.writeFile(filePath, bytes);
    return { filePath, bytes: bytes.byteLength, lines: countLines(bytes) };
  },
});
