/** The listing of `ls`, without the blank lines that just-bash prints between files. */
import { posix } from "node:path";
import type { CommandContext, ExecResult } from "just-bash";
import { failed } from "./options.ts";
import { formatTime, zoneOf } from "./time-zone.ts";

/** Lists files before folders, without blank lines, and with the times of `--time-style` and `--full-time`. */
export async function listWithTimes(
  options: string[],
  names: string[],
  { fs, cwd, origCommand, env }: CommandContext,
): Promise<ExecResult> {
  const styled = options.filter((arg) => /^--time-style=|^--full-time$/.test(arg));
  const rest = options.filter((arg) => !styled.includes(arg));
  const style = styled.at(-1)?.replace("--time-style=", "");
  const format = style?.startsWith("+") ? style.slice(1) : TIME_STYLES[style ?? "locale"];
  if (format === undefined) return failed("ls", `invalid argument '${style}' for 'time style'`, 2);
  const isFolder = async (name: string) =>
    (await fs.stat(fs.resolvePath(cwd, name)).catch(() => null))?.isDirectory === true;
  const asFiles = rest.some((arg) => /^-[a-zA-Z]*d/.test(arg));
  const folders: string[] = [];
  const output = { stdout: "", stderr: "", exitCode: 0 };
  const list = async (folder: string, args: string[]) => {
    const result =
      (await origCommand?.([...rest, ...args])) ?? failed("ls", "command not found", 127);
    output.stdout += style === undefined ? result.stdout : await withTimes(result.stdout, folder);
    output.stderr += result.stderr;
    output.exitCode = Math.max(output.exitCode, result.exitCode);
  };
  const withTimes = async (text: string, folder: string): Promise<string> => {
    const lines: string[] = [];
    let inner = folder;
    for (const line of text.split("\n")) {
      if (/^[^ ].*:$/.test(line)) inner = line.slice(0, -1);
      const [, head, name = ""] =
        /^([-dl][-rwxstST]{9} .*?) [A-Z][a-z]{2} [ \d]\d [ \d:]{5} (.*)$/.exec(line) ?? [];
      const path = posix.resolve(fs.resolvePath(cwd, inner), name.replace(/[/*@]$/, ""));
      const found = head === undefined ? null : await fs.lstat(path).catch(() => null);
      const time = found ? formatTime(format, found.mtime.getTime(), zoneOf(env.get("TZ"))) : "";
      lines.push(found ? `${head} ${time} ${name}` : line);
    }
    return lines.join("\n");
  };
  const isPlain = !rest.some((arg) => /^-[a-zA-Z]*[tSUrvX]/.test(arg));
  for (const name of isPlain ? names.toSorted() : names) {
    if (!asFiles && (await isFolder(name))) folders.push(name);
    else await list(".", [name]);
  }
  const [folder = "."] = folders;
  if (names.length > 1 && folders.length > 0) {
    const isOne = folders.length === 1 && !rest.some((arg) => /^-[a-zA-Z]*R/.test(arg));
    output.stdout += `${output.stdout === "" ? "" : "\n"}${isOne ? `${folder}:\n` : ""}`;
  }
  if (folders.length > 0 || names.length === 0) await list(folder, folders);
  return output;
}

const TIME_STYLES: Readonly<Record<string, string>> = {
  ...{ "full-iso": "%F %T.%N %z", "--full-time": "%F %T.%N %z", "long-iso": "%F %R" },
  ...{ iso: "%m-%d %R", locale: "%b %e %H:%M" },
};
