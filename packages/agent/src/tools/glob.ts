import { z } from "zod";
import {
  COMMAND_DEADLINE_MS,
  MAX_OUTPUT_CHARS,
  MAX_PATH_CHARS,
  MAX_PATTERN_CHARS,
  quoteForShell,
  quotePath,
} from "./limits.ts";
import { agentTool, toolFailure } from "./tool.ts";

const DEFAULT_LIMIT = 100;
const MISSING = 66;

/**
 * The pattern is matched inside the sandbox, never by this process, because a hostile pattern can
 * keep a backtracking matcher busy for ever.
 */
export const glob = agentTool({
  name: "glob",
  description: `Find files of the sandbox by name.
- The pattern is matched against the path relative to "path": * and ? stay within a folder, ** crosses folders, {a,b} and [abc] choose. *.md finds files in the folder itself, **/*.md at any depth.
- path is a folder and defaults to the sandbox's home; .git and node_modules are skipped.
- Gives {files: [path], truncated}, sorted; limit defaults to ${DEFAULT_LIMIT}, at most 1000.`,
  input: z.object({
    pattern: z.string().min(1).max(MAX_PATTERN_CHARS).describe("Such as **/*.md"),
    path: z.string().min(1).max(MAX_PATH_CHARS).optional().describe("Folder to search in"),
    limit: z
      .int()
      .min(1)
      .max(1000)
      .optional()
      .describe(`Most files to list, default ${DEFAULT_LIMIT}`),
  }),
  async execute({ pattern, path = ".", limit = DEFAULT_LIMIT }, context) {
    if (/[\n\0]/.test(pattern)) return toolFailure("pattern must be a single line");
    const find = "find . \\( -name .git -o -name node_modules \\) -prune -o -type f -print";
    const filter = `grep -E -e ${quoteForShell(globToRegex(pattern))}`;
    const { exitCode, stdout, stderr, truncated } = await context.sandbox.run(
      `cd ${quotePath(path)} 2>/dev/null || exit ${MISSING}; ${find} | ${filter} | sort | head -n ${limit + 1}`,
      {
        timeoutMs: COMMAND_DEADLINE_MS,
        maxOutputChars: MAX_OUTPUT_CHARS,
        signal: context.signal,
      },
    );
    if (exitCode === MISSING) return toolFailure(`${path} is not a folder`);
    if (exitCode === 124) return toolFailure("The search took too long; narrow path or pattern");
    if (stdout === "" && stderr !== "") return toolFailure("pattern is not a valid glob");
    const lines = stdout.split("\n").filter((line) => line.startsWith("./"));
    // The last path of a cut listing is incomplete.
    if (truncated) lines.pop();
    const base = path === "." ? "" : `${path.replace(/\/+$/, "")}/`;
    const files = lines.slice(0, limit).map((line) => base + line.slice(2));
    return { files, truncated: truncated || lines.length > limit };
  },
});

/** Returns an extended regular expression for a whole `./path` line of find. */
function globToRegex(pattern: string): string {
  let depth = 0;
  const tokens =
    pattern.replace(/^\.?\/+/, "").match(/\*\*\/|\*+|\?|\[[!^]?\]?[^\]]*\]|\\.|./gu) ?? [];
  const body = tokens.map((token) => {
    if (token === "**/") return "(.*/)?";
    if (token === "*") return "[^/]*";
    if (token.startsWith("*")) return ".*";
    if (token === "?") return "[^/]";
    if (token.length > 1 && token.startsWith("[")) return token.replace(/^\[!/, "[^");
    if (token === "{" && pattern.includes("}")) return ++depth && "(";
    if (token === "}" && depth > 0) return depth-- && ")";
    if (token === "," && depth > 0) return "|";
    return literal(token.replace(/^\\(?=.)/, ""));
  });
  return `^\\./${body.join("")}${")".repeat(depth)}$`;
}

const literal = (text: string): string => text.replace(/[.+^$()|\\{}[\]*?]/g, "\\$&");
