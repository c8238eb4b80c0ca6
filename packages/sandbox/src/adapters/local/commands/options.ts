/** The parts that the shell's own commands share. */
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import type { CommandContext, ExecResult } from "just-bash";

export const failed = (name: string, problem: string, exitCode = 1): ExecResult => ({
  stdout: "",
  stderr: `${name}: ${problem}\n`,
  exitCode,
});

export const printed = (stdout: string, stderr = "", exitCode = stderr ? 1 : 0): ExecResult => ({
  stdout,
  stderr,
  exitCode,
});

export const printedBytes = (
  bytes: Uint8Array,
  stderr = "",
  exitCode = stderr ? 1 : 0,
): ExecResult => ({
  stdout: Buffer.from(bytes).toString("latin1"),
  stdoutKind: "bytes",
  stderr,
  exitCode,
});

/** Parses the options of a command. Returns the problem as a text. */
export function optionsOf<Options extends ParseArgsOptionsConfig>(
  args: string[],
  options: Options,
) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).replace(/\. .*/s, "");
  }
}

/** Reads a file, or the standard input for `-` and for no name. Throws the error of the file system. */
export async function inputOf(
  name: string | undefined,
  { fs, cwd, stdin }: Pick<CommandContext, "fs" | "cwd" | "stdin">,
): Promise<Buffer> {
  if (name === undefined || name === "-") return Buffer.from(stdin as unknown as string, "latin1");
  return Buffer.from(await fs.readFileBuffer(fs.resolvePath(cwd, name)));
}

/** Returns the text of coreutils for an error of the file system. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (message.startsWith("ENOENT")) return "No such file or directory";
  if (message.startsWith("EISDIR")) return "Is a directory";
  if (message.startsWith("ENOTDIR")) return "Not a directory";
  if (message.startsWith("ENOSPC")) return "No space left on device";
  return message;
}
