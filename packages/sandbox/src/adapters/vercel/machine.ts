/** Commands and files of one machine. */
import { posix } from "node:path";
import { readBytes } from "@platform/kit/outbound/vendor-fetch";
import { cutOutput } from "../../cut-output.ts";
import {
  type CommandOptions,
  type CommandResult,
  type ExpectedFile,
  type FolderEntry,
  isSandboxError,
  MAX_FILE_BYTES,
  MAX_LISTED_ENTRIES,
  MAX_TREE_ENTRIES,
  type Sandbox,
  SandboxError,
  type SandboxFiles,
} from "../../port.ts";
import { isStreamLost, type Machine, statusOf } from "./sdk.ts";
import { CHANGED, dateOf, stateOf, uploadInParts } from "./upload-in-parts.ts";

const FILE_TIMEOUT_MS = 60_000;
/** Enough for the largest file over a slow line. */
const STREAM_TIMEOUT_MS = 10 * 60_000;
/** How much longer than the command's own deadline the machine's controller waits. */
const CONTROLLER_GRACE_MS = 5_000;
const LIST_MISSING = 44;
const LIST_REFUSED = 45;
/** How `timeout` ends at the deadline: as the programs of GNU (137) or of uutils (124, 125) do. */
const LATE_CODES = [124, 125, 137];

/**
 * Runs $1 in $3, with the rest as its arguments, and passes on the first $2 bytes of stdout and of stderr
 * each; the rest is dropped inside the machine, so a flood costs neither its network nor this server's
 * memory. Without `stdbuf`, head would keep short output until the end.
 */
const RUN_BOUNDED = `cd -- "$3" || exit 1
set -o pipefail
now=$(command -v stdbuf)
first() { \${now:+"$now" -o0} head -c "$1"; cat >/dev/null; }
{ bash -c "$1" bash "\${@:4}" 2>&1 >&3 3>&- | first "$2" >&2 3>&-; } 3>&1 | first "$2"`;

/**
 * The first $2 entries of the folder $1: name, type, size and time, between tabs and ended by NUL,
 * because a name may hold anything else. A path that is not a folder has its own exit codes.
 */
const LIST_FOLDER = `export LC_ALL=C
[ -e "$1" ] || exit ${LIST_MISSING}
[ -d "$1" ] && [ -r "$1" ] && [ -x "$1" ] || exit ${LIST_REFUSED}
find -L "$1/" -mindepth 1 -maxdepth 1 \\( -type f -o -type d \\) -printf '%f\\t%y\\t%s\\t%T@\\0' |
  sort -z | head -z -n "$2"`;

/** The first $2 entries below the folder $1, in the format of `LIST_FOLDER`, with their paths. */
const LIST_TREE = `export LC_ALL=C
[ -e "$1" ] || exit ${LIST_MISSING}
[ -d "$1" ] && [ -r "$1" ] && [ -x "$1" ] || exit ${LIST_REFUSED}
find "$1/" -mindepth 1 \\( -type f -o -type d \\) -printf '%P\\t%y\\t%s\\t%T@\\0' | head -z -n "$2"`;

/** Removes $1, if it is as $2 says. */
const REMOVE = `[ -e "$1" ] || [ -L "$1" ] || exit ${LIST_MISSING}
[ -z "$2" ] || [ "$2" = "$(stat -c "%s %.3Y" -- "$1")" ] || exit ${CHANGED}
rm -rf -- "$1" || exit ${LIST_REFUSED}`;

/** More than a full listing of the longest names has. */
const MAX_LISTING_CHARS = 1_000_000;
/** Enough for `MAX_TREE_ENTRIES` with paths of 400 characters. */
const MAX_TREE_CHARS = 4_000_000;

/** The sandbox of a session, which connects to its machine at the first call. */
export class VercelSandbox implements Sandbox, SandboxFiles {
  readonly #connect: () => Promise<Machine>;
  #connection: Promise<Machine> | undefined;

  constructor(connect: () => Promise<Machine>) {
    this.#connect = connect;
  }

  /** Connects once; a failed attempt is made again by the next call. */
  #connected(): Promise<Machine> {
    this.#connection ??= this.#connect().catch((error) => {
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }

  run(command: string, options: CommandOptions): Promise<CommandResult> {
    return this.#run(command, options, []);
  }

  async #run(
    command: string,
    options: CommandOptions,
    args: readonly string[],
  ): Promise<CommandResult> {
    const { timeoutMs, maxOutputChars, signal, onOutput } = options;
    if (signal?.aborted) return killed("the command was stopped");
    const machine = await this.#connected();
    const started = performance.now();
    const bytes = 4 * (maxOutputChars + 1);
    const cwd = posix.resolve(machine.cwd, options.cwd ?? ".");
    try {
      // As the leader of the command's process group, `timeout` takes all of it down, at the deadline
      // with SIGKILL and when it is itself signaled to end.
      const running = await machine.runCommand({
        cmd: "timeout",
        args: [
          ...["--signal=KILL", "--kill-after=1", String(timeoutMs / 1000)],
          ...["bash", "-c", RUN_BOUNDED, "bash", command, String(bytes), cwd, ...args],
        ],
        env: { ...options.env },
        timeoutMs: timeoutMs + CONTROLLER_GRACE_MS,
        detached: true,
      });
      const stop = () => void running.kill("SIGTERM").catch(() => undefined);
      signal?.addEventListener("abort", stop, { once: true });
      if (signal?.aborted) stop();
      try {
        let stdout = "";
        let stderr = "";
        for await (const { stream, data } of running.logs()) {
          // A program in the machine may bypass the machine's own bound.
          if (stream === "stdout" && stdout.length <= maxOutputChars) stdout += data;
          if (stream === "stderr" && stderr.length <= maxOutputChars) stderr += data;
          onOutput?.(stream, data);
        }
        const { exitCode } = await running.wait();
        if (signal?.aborted) return killed("the command was stopped");
        const late = LATE_CODES.includes(exitCode) && performance.now() - started >= timeoutMs;
        if (late) stderr += `Killed: the deadline of ${timeoutMs / 1000} s passed\n`;
        return {
          exitCode: late ? 124 : exitCode,
          stdout: cutOutput(stdout, maxOutputChars),
          stderr: cutOutput(stderr, maxOutputChars),
          truncated: stdout.length > maxOutputChars || stderr.length > maxOutputChars,
        };
      } finally {
        signal?.removeEventListener("abort", stop);
      }
    } catch (error) {
      if (await isStreamLost(error)) return killed("the sandbox stopped under it");
      throw refusal(error);
    }
  }

  /** Runs a script of this file. @throws SandboxError for every exit code but 0 */
  readonly #runScript = async (
    script: string,
    args: readonly string[],
    maxOutputChars: number,
  ): Promise<{ stdout: string; truncated: boolean }> => {
    const options = { timeoutMs: FILE_TIMEOUT_MS, maxOutputChars };
    const { exitCode, stdout, truncated } = await this.#run(script, options, args);
    if (exitCode === LIST_MISSING) throw new SandboxError("not_found", "No such file or folder");
    if (exitCode === LIST_REFUSED) throw new SandboxError("refused", "No such folder, or a folder");
    if (exitCode === CHANGED) throw new SandboxError("changed", "The file was changed");
    if (exitCode === 0) return { stdout, truncated };
    throw new SandboxError("unavailable", `A script ended with exit code ${exitCode}`);
  };

  async *#read(path: string, timeoutMs: number): AsyncGenerator<Uint8Array> {
    const machine = await this.#connected();
    const file = posix.resolve(machine.cwd, path);
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const read = (path: string) => machine.readFile({ path }, { signal });
      const stream = (await read(file)) ?? (await this.#readSpelling(machine.cwd, file, read));
      if (!stream) throw new SandboxError("not_found", `No such file: ${file}`);
      for await (const chunk of stream) yield Buffer.from(chunk);
    } catch (error) {
      throw refusal(error);
    }
  }

  /** Reads the file whose path differs only in its Unicode normalization. */
  async #readSpelling<T>(
    home: string,
    file: string,
    read: (path: string) => Promise<T>,
  ): Promise<T | null> {
    if (file.normalize("NFC") === file.normalize("NFD") || !file.startsWith(`${home}/`))
      return null;
    let found = home;
    for (const name of file.slice(home.length + 1).split("/")) {
      const { entries } = await this.listFolder(found);
      const names = entries.map((entry) => entry.path);
      const same = names.find((entry) => entry.normalize("NFC") === name.normalize("NFC"));
      if (same === undefined) return null;
      found = posix.join(found, names.includes(name) ? name : same);
    }
    return read(found);
  }

  async listFolder(path: string) {
    const folder = posix.resolve((await this.#connected()).cwd, path);
    const args = [folder, String(MAX_LISTED_ENTRIES + 1)];
    const { stdout, truncated } = await this.#runScript(LIST_FOLDER, args, MAX_LISTING_CHARS);
    if (truncated) throw new SandboxError("unavailable", "The folder was not listed");
    const entries = readEntries(stdout);
    return {
      path: folder,
      entries: entries.slice(0, MAX_LISTED_ENTRIES),
      truncated: entries.length > MAX_LISTED_ENTRIES,
    };
  }

  async listTree(path: string) {
    const { cwd } = await this.#connected();
    const args = [posix.resolve(cwd, path), String(MAX_TREE_ENTRIES + 1)];
    const { stdout, truncated } = await this.#runScript(LIST_TREE, args, MAX_TREE_CHARS);
    const entries = readEntries(stdout);
    if (!truncated && entries.length <= MAX_TREE_ENTRIES) return entries;
    throw new SandboxError("too_large", "The folder has too many entries");
  }

  async readFile(path: string) {
    const bytes = await readBytes(this.#read(path, FILE_TIMEOUT_MS), MAX_FILE_BYTES);
    if (!bytes) throw tooLarge();
    return new Uint8Array(bytes);
  }

  readStream(path: string): AsyncIterable<Uint8Array> {
    return this.#read(path, STREAM_TIMEOUT_MS);
  }

  async writeStream(path: string, content: AsyncIterable<Uint8Array>, expected?: ExpectedFile) {
    const machine = await this.#connected();
    const target = ownPath(machine.cwd, path);
    const write = (file: string, content: Uint8Array) =>
      machine.writeFiles([{ path: file, content }], fileDeadline()).catch((error) => {
        throw refusal(error);
      });
    return uploadInParts(target, content, { write, runScript: this.#runScript }, stateOf(expected));
  }

  async remove(path: string, expected?: ExpectedFile) {
    const { cwd } = await this.#connected();
    await this.#runScript(REMOVE, [ownPath(cwd, path), stateOf(expected)], 1_000);
  }

  async writeFile(path: string, content: string | Uint8Array) {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    if (bytes.byteLength > MAX_FILE_BYTES) throw tooLarge();
    const machine = await this.#connected();
    try {
      const file = { path: posix.resolve(machine.cwd, path), content: bytes };
      await machine.writeFiles([file], fileDeadline());
    } catch (error) {
      throw refusal(error);
    }
  }
}

/** Refuses paths outside the home: the rest of the machine is not the session's. */
function ownPath(home: string, path: string): string {
  const target = posix.resolve(home, path);
  if (target.startsWith(`${home}/`)) return target;
  throw new SandboxError("refused", `Not below ${home}: ${target}`);
}

/** The output of `LIST_FOLDER`, where a path is a name, or of `LIST_TREE`. */
const readEntries = (listing: string): FolderEntry[] =>
  listing.split("\0").slice(0, -1).map(readEntry);

function readEntry(line: string): FolderEntry {
  const fields = line.split("\t");
  const [type, size, seconds] = fields.slice(-3);
  return {
    path: fields.slice(0, -3).join("\t"),
    type: type === "d" ? "directory" : "file",
    size: type === "d" ? 0 : Number(size),
    modifiedAt: dateOf(seconds),
  };
}

function fileDeadline(): { signal: AbortSignal } {
  return { signal: AbortSignal.timeout(FILE_TIMEOUT_MS) };
}

function tooLarge(): SandboxError {
  return new SandboxError("too_large", `File is larger than ${MAX_FILE_BYTES} bytes`);
}

function killed(why: string): CommandResult {
  return { exitCode: 137, stdout: "", stderr: `Killed: ${why}\n`, truncated: false };
}

function refusal(error: unknown): SandboxError {
  if (isSandboxError(error)) return error;
  const status = statusOf(error);
  if (status !== undefined && status < 500) {
    const full = error instanceof Error && /no space|ENOSPC|quota/i.test(error.message);
    return full
      ? new SandboxError("no_space", "No space left in the sandbox")
      : new SandboxError("refused", `The sandbox refused it (status ${status})`);
  }
  return new SandboxError("unavailable", "The sandbox service did not answer");
}
