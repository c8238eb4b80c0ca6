import { z } from "zod";
import { agentTool } from "./tool.ts";

export const write = agentTool({
  name: "write",
  description: `Write a text file of the sandbox as a whole.
- Makes missing folders and replaces a file that is there: read it first when you mean to change a part of it, and give the complete new text.
- Gives {filePath, bytes, lines}.`,
  input: z.object({
    filePath: z.string().min(1).describe("Absolute, or relative to the sandbox's home"),
    content: z.string().describe("The complete text of the file"),
  }),
  async execute({ filePath, content }, context) {
    await context.sandbox.writeFile(filePath, content);
    const lines = content === "" ? 0 : content.replace(/\n$/, "").split("\n").length;
    return { filePath, bytes: Buffer.byteLength(content), lines };
  },
});
