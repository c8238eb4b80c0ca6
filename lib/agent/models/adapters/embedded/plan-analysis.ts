/** Plans the analysis of the tables that are attached to a message. */
import { z } from "zod";
import { analyzeTable } from "./analyze-table.ts";
import { TABLE_NOTE } from "./identity.ts";
import type { PlanStep } from "./plan.ts";

/** How the agent names a file of the message (lib/agent/show-files.ts). */
const ATTACHED = /^Attached file: ("(?:[^"\\]|\\.)*") \(([^()]*)\), in the sandbox's home$/gm;
const TABLE = /\.(?:csv|tsv)$/i;
const content = z.object({ content: z.string(), totalLines: z.number(), truncated: z.boolean() });

/** Returns one step that reads all attached tables and reports on each; null if there is none. */
export function planAnalysis(text: string): PlanStep | null {
  const paths = [...text.matchAll(ATTACHED)]
    .map(([, quoted = "", mediaType]) => ({ path: unquote(quoted), mediaType }))
    .filter(({ path, mediaType }) => path && (TABLE.test(path) || mediaType === "text/csv"))
    .map(({ path }) => path);
  if (paths.length === 0) return null;
  const request = text.replace(ATTACHED, "");
  const calls = paths.map((path, index) => ({
    tool: "read",
    input: { filePath: path },
    label: `reading \`${nameOf(path)}\``,
    describe: (result: unknown): string | null => {
      const read = content.safeParse(result);
      if (!read.success) return null;
      const report = analyzeTable(read.data.content, request);
      if (report === null) return null;
      const note = index === paths.length - 1 ? `\n\n${TABLE_NOTE}` : "";
      const part = read.data.truncated
        ? ` Only its beginning: it has ${read.data.totalLines.toLocaleString("en")} lines.`
        : "";
      return `I have read \`${nameOf(path)}\`.${part} ${report}${note}`;
    },
  }));
  return { kind: "tools", calls };
}

/** Returns an empty text for what the agent has not quoted: a person may write such a line, too. */
function unquote(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return "";
  }
}

const nameOf = (path: string): string => path.split("/").at(-1) ?? path;
