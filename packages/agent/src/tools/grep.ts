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

const MAX_MATCHES = 500;
const MAX_LINE_CHARS = 500;
/** The limit for the file and the line number before a match. */
const MAX_PREFIX_CHARS = MAX_PATH_CHARS + 100;
const MISSING = 66;

export const grep = agentTool({
  name: "grep",
  description: `Search the text files of the sandbox by regular expression (Perl-compatible).
- Gives {matches: [{file, line, text}], truncated}, at most ${MAX_MATCHES} matches; a line is cut at ${MAX_LINE_CHARS} characters.
- path is a file or a folder and defaults to the sandbox's home; .git and node_modules are skipped.
- glob filters by file name, such as *.md or *.{ts,tsx}; it does not contain folders.
- caseSensitive defaults to true.`,
  input: z.object({
    pattern: z.string().min(1).max(MAX_PATTERN_CHARS).describe("Regular expression"),
    path: z.string().min(1).max(MAX_PATH_CHARS).optional().describe("File or folder to search"),
    glob: z
      .string()
      .min(1)
      .max(MAX_PATTERN_CHARS)
      .optional()
      .describe("File names to search, such as *.md"),
    caseSensitive: z.boolean().optional().describe("Default true"),
  }),
  async execute({ pattern, path = ".", glob, caseSensitive = true }, context) {
    if (/[\n\0]/.test(pattern)) return toolFailure("pattern must be a single line");
    const names = glob === undefined ? [] : expandBraces(glob.replace(/^(?:\*\*\/)+/, ""));
    if (names.some((name) => name.includes("/"))) {
      return toolFailure(
        "glob filters by file name and must not contain a folder; use path for the folder",
      );
    }
    const options = [
      "grep -rnP",
      caseSensitive ? "" : "-i",
      ...names.map((name) => `--include=${quoteForShell(name)}`),
      "--exclude-dir=.git --exclude-dir=node_modules",
      `-e ${quoteForShell(pattern)}`,
    ];
    // With a second file, grep prints the file name even when path is a single file.
    const search = `${options.filter(Boolean).join(" ")} -- ${quotePath(path)} /dev/null`;
    const { exitCode, stdout, stderr, truncated } = await context.sandbox.run(
      `[ -e ${quotePath(path)} ] || exit ${MISSING}; ${search}`,
      {
        timeoutMs: COMMAND_DEADLINE_MS,
        maxOutputChars: 20 * MAX_OUTPUT_CHARS,
        signal: context.signal,
      },
    );
    if (exitCode === MISSING) return toolFailure(`${path} does not exist`);
    if (exitCode === 124) return toolFailure("The search took too long; narrow path or pattern");
    // grep also exits with 2 when it cannot read one of several files.
    if (exitCode > 1 && stdout === "") {
      return toolFailure(stderr.trim().slice(0, 300) || "The search failed");
    }
    return collect(stdout, truncated);
  },
});

function collect(stdout: string, outputCut: boolean) {
  const matches: { file: string; line: number; text: string }[] = [];
  let room = MAX_OUTPUT_CHARS;
  for (const output of stdout.split("\n")) {
    // Only the prefix is matched, because the line may be as long as a file.
    const found = /^(?:\.\/)?(.+?):(\d+):/.exec(output.slice(0, MAX_PREFIX_CHARS));
    if (!found) continue;
    const [prefix, file = "", line = ""] = found;
    const text = output.slice(prefix.length, prefix.length + MAX_LINE_CHARS).replace(/\r$/, "");
    const match = { file, line: Number(line), text };
    room -= file.length + match.text.length;
    if (matches.length === MAX_MATCHES || room < 0) return { matches, truncated: true };
    matches.push(match);
  }
  return { matches, truncated: outputCut };
}

/** Expands `*.{ts,tsx}` to the two names that grep needs. */
function expandBraces(glob: string): string[] {
  const braces = /^([^{}]*)\{([^{}]*)\}([^{}]*)$/.exec(glob);
  if (!braces) return [glob];
  const [, before = "", inner = "", after = ""] = braces;
  return inner.split(",").map((choice) => `${before}${choice}${after}`);
}
