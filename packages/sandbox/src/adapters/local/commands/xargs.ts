/** The command `xargs` of GNU findutils. The one of just-bash knows neither attached values nor quotes. */
import {
  type Command,
  decodeBytesToUtf8,
  defineCommand,
  type ExecResult,
  latin1FromBytes,
  stdoutAsBytes,
} from "just-bash";
import { failed, inputOf, optionsOf } from "./options.ts";

const OPTIONS = {
  null: { type: "boolean", short: "0" },
  "arg-file": { type: "string", short: "a" },
  delimiter: { type: "string", short: "d" },
  replace: { type: "string", short: "I" },
  "max-lines": { type: "string", short: "L" },
  "max-args": { type: "string", short: "n" },
  "max-procs": { type: "string", short: "P" },
  "max-chars": { type: "string", short: "s" },
  "no-run-if-empty": { type: "boolean", short: "r" },
  verbose: { type: "boolean", short: "t" },
  exit: { type: "boolean", short: "x" },
} as const;
const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  0: "\0",
  "\\": "\\",
};
/** The limit of Linux, at which a command line is cut. */
const MAX_LINE_CHARS = 128 * 1024;

/** Returns the index of the first argument that is neither an option nor the value of one. */
function commandIndex(args: readonly string[]): number {
  let index = 0;
  for (; index < args.length && /^-./.test(args[index] ?? ""); index++) {
    const arg = args[index] ?? "";
    if (arg === "--") return index + 1;
    const isValueNext = arg.startsWith("--")
      ? /^--(?:arg-file|delimiter|replace|max-\w+)$/.test(arg)
      : /^-[0rtx]*[adILnPs]$/.test(arg);
    if (isValueNext) index++;
  }
  return index;
}

/** Returns the words of each line, in which quotes and backslashes hide spaces. Null for an open quote. */
function wordsOf(text: string): string[][] | null {
  const lines: string[][] = [];
  for (const line of text.match(/(?:\\[\s\S]|"[^"\n]*"|'[^'\n]*'|[^\n\\])+/g) ?? []) {
    const words = line.match(/(?:\\[\s\S]|"[^"]*"|'[^']*'|[^\s"'\\])+|["']/g) ?? [];
    if (words.some((word) => word === '"' || word === "'")) return null;
    const plain = words.map((word) =>
      word.replace(/\\([\s\S])|"([^"]*)"|'([^']*)'/g, (_, a = "", b = "", c = "") => a + b + c),
    );
    if (plain.length > 0) lines.push(plain);
  }
  return lines;
}

export const xargsCommand: Command = defineCommand("xargs", async (args, context) => {
  const at = commandIndex(args);
  const parsed = optionsOf(args.slice(0, at), OPTIONS);
  if (typeof parsed === "string") return failed("xargs", parsed);
  const { values } = parsed;
  const command = at < args.length ? args.slice(at) : ["echo"];
  const [maxArgs, maxLines] = [values["max-args"], values["max-lines"]].map((value) =>
    value === undefined ? Number.POSITIVE_INFINITY : Number(value),
  ) as [number, number];
  if (!(maxArgs >= 1 && maxLines >= 1)) return failed("xargs", "value for -n and -L must be >= 1");
  let input: Buffer;
  try {
    input = await inputOf(values["arg-file"], context);
  } catch {
    return failed("xargs", `Cannot open input file '${values["arg-file"]}'`);
  }
  const text = decodeBytesToUtf8(input.toString("latin1") as never);
  const delimiter = values.null
    ? "\0"
    : values.delimiter?.replace(/\\(.)/, (_, letter: string) => ESCAPES[letter] ?? letter);
  const { replace } = values;
  let lines: string[][] | null;
  if (delimiter !== undefined) {
    const items = text.split(delimiter);
    if (items.at(-1) === "") items.pop();
    lines = items.map((item) => [item]);
  } else {
    lines = wordsOf(text);
    if (lines && replace !== undefined) {
      const items = text.split("\n").map((line) => line.trimStart());
      if (!/["'\\]/.test(text)) lines = items.filter(Boolean).map((item) => [item]);
      else lines = lines.map((words) => [words.join(" ")]);
    }
  }
  if (!lines)
    return failed(
      "xargs",
      "unmatched quote; by default quotes are special to xargs unless you use the -0 option",
    );
  const calls: string[][] = [];
  if (replace !== undefined) {
    for (const [item = ""] of lines)
      calls.push(command.map((arg) => arg.replaceAll(replace, item)));
  } else {
    let [batch, chars, count]: [string[], number, number] = [[], 0, 0];
    const flush = () => {
      if (batch.length > 0) calls.push([...command, ...batch]);
      [batch, chars, count] = [[], 0, 0];
    };
    for (const words of lines) {
      for (const word of words) {
        if (batch.length >= maxArgs || chars + word.length > MAX_LINE_CHARS) flush();
        batch.push(word);
        chars += word.length + 1;
      }
      count += 1;
      if (count >= maxLines) flush();
    }
    flush();
    if (calls.length === 0 && !values["no-run-if-empty"]) calls.push(command);
  }
  const output: ExecResult = { stdout: "", stdoutKind: "bytes", stderr: "", exitCode: 0 };
  for (const [name = "", ...rest] of calls) {
    if (values.verbose) output.stderr += `${[name, ...rest].join(" ")}\n`;
    const quoted = `'${name.replaceAll("'", "'\\''")}'`;
    const { cwd, signal } = context;
    const result = await context.exec?.(quoted, { cwd, args: rest, ...(signal && { signal }) });
    if (!result) return failed("xargs", "no command can be run here");
    output.stdout += latin1FromBytes(stdoutAsBytes(result));
    output.stderr += result.stderr;
    if (output.stdout.length > context.limits.maxOutputSize) {
      return failed("xargs", "the output is too long", 1);
    }
    if (result.exitCode === 126 || result.exitCode === 127)
      return { ...output, exitCode: result.exitCode };
    if (result.exitCode === 255) return { ...output, exitCode: 124 };
    if (result.exitCode !== 0) output.exitCode = 123;
  }
  return output;
});
