import { randomUUID } from "node:crypto";
import { posix } from "node:path";
import type { ExpectedFile, WrittenFile } from "../../port.ts";

/** The most that the machine's API takes at once, and that is held in memory here. */
const PART_BYTES = 8 * 1024 * 1024;
const MAX_OUTPUT_CHARS = 1_000;
const REFUSED = 45;
export const CHANGED = 46;

/** Appends the part $1 to the file $2. */
const APPEND = `cat -- "$1" >> "$2" && rm -- "$1"`;

/**
 * Moves the file $1 to $2, if that is as $4 says, and prints size, time and whether it is new; $3 is the folder
 * of $1.
 */
const PLACE = `[ -d "$2" ] && exit ${REFUSED}
is_new=1; state=none
[ -e "$2" ] && is_new=0 && state=$(stat -c "%s %.3Y" -- "$2")
[ -z "$4" ] || [ "$4" = "$state" ] || exit ${CHANGED}
touch -- "$1" && mv -fT -- "$1" "$2" && rmdir -- "$3" && stat -c "%s %.3Y $is_new" -- "$2"`;

/** Removes the folder $1. */
const CLEAR = `rm -rf -- "$1"`;

export interface PartsMachine {
  /** Creates missing parent folders. */
  write(path: string, content: Uint8Array): Promise<void>;
  /** @throws SandboxError for every exit code but 0 */
  runScript(
    script: string,
    args: readonly string[],
    maxOutputChars: number,
  ): Promise<{ readonly stdout: string }>;
}

/**
 * Collects the content, part by part, in a hidden folder beside the target, and moves it there when
 * it is complete. The folder is removed when that fails.
 * @param state from `stateOf`
 */
export async function uploadInParts(
  target: string,
  content: AsyncIterable<Uint8Array>,
  machine: PartsMachine,
  state: string,
): Promise<WrittenFile> {
  const folder = posix.join(posix.dirname(target), `.upload-${randomUUID()}`);
  const part = posix.join(folder, "part");
  const whole = posix.join(folder, "whole");
  const run = (script: string, args: readonly string[]) =>
    machine.runScript(script, args, MAX_OUTPUT_CHARS);
  try {
    for await (const bytes of inParts(content)) {
      await machine.write(part, bytes);
      await run(APPEND, [part, whole]);
    }
    const { stdout } = await run(PLACE, [whole, target, folder, state]);
    const [size, seconds, isNew] = stdout.trim().split(" ");
    return {
      path: target,
      size: Number(size),
      modifiedAt: dateOf(seconds),
      isNew: isNew === "1",
    };
  } catch (error) {
    // Leftover parts are hidden, and are deleted with the sandbox.
    await run(CLEAR, [folder]).catch(() => {});
    throw error;
  }
}

/** Returns the value that a script compares with a file's size and time: `none` for no file, empty for any. */
export function stateOf(expected: ExpectedFile | undefined): string {
  if (!expected) return expected === null ? "none" : "";
  return `${expected.size} ${(Date.parse(expected.modifiedAt) / 1000).toFixed(3)}`;
}

/** Returns the date of seconds with any number of decimals, cut to milliseconds as `stat` cuts them. */
export function dateOf(seconds = ""): string {
  const [whole, decimals = ""] = seconds.split(".");
  return new Date(Number(whole) * 1000 + Number(decimals.slice(0, 3).padEnd(3, "0"))).toISOString();
}

/** Joins the pieces to parts of `PART_BYTES`; the last one is shorter, and the only one of nothing. */
async function* inParts(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let size = 0;
  let isFirst = true;
  for await (const piece of content) {
    pieces.push(piece);
    size += piece.byteLength;
    if (size < PART_BYTES) continue;
    yield Buffer.concat(pieces);
    pieces = [];
    size = 0;
    isFirst = false;
  }
  if (size > 0 || isFirst) yield Buffer.concat(pieces);
}
