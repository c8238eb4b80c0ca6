/**
 * Program: the jailed child of one session, which handles one request at a time. It runs under
 * Node's permission model with an empty environment and sees only the session's folder; `jail.ts`
 * starts it. Node runs this file as it is, outside any bundle.
 */
import "./lazy-headers.ts";
import { AsyncLocalStorage } from "node:async_hooks";
import { join, posix } from "node:path";
import {
  Bash,
  type CommandName,
  getCommandNames,
  getNetworkCommandNames,
  type SecureFetch,
} from "just-bash";
import { cutOutput } from "../../cut-output.ts";
import type { ExpectedFile } from "../../port.ts";
import { addedCommands } from "./commands/commands.ts";
import { forgetDeadlines } from "./deadlines.ts";
import { DiskUsage } from "./disk-usage.ts";
import { shownText } from "./kept-bytes.ts";
import { withLiveOutput } from "./live-output.ts";
import type { JailMessage, JailReply, JailRequest, JailSettings } from "./protocol.ts";
import { SessionDisk, SessionDisks } from "./session-disk.ts";
import { errorCodeOf, SessionFs } from "./session-fs.ts";
import { trapCommand } from "./shell-corrections.ts";

const HOME = "/home/agent";
const MIB = 1024 * 1024;

const settings: JailSettings = JSON.parse(process.argv[2] ?? "");
const dirs = { home: join(settings.dir, "home"), tmp: join(settings.dir, "tmp") };

const usage = new DiskUsage(settings.dir, settings.diskQuota, settings.maxFiles);
const fs = new SessionFs(HOME, dirs, usage);
const disks = new SessionDisks(
  new Map([
    [HOME, new SessionDisk(dirs.home, usage)],
    ["/tmp", new SessionDisk(dirs.tmp, usage)],
  ]),
);

// The shell restricts the code that runs inside a command, which the network code must escape.
const outsideCommands = AsyncLocalStorage.snapshot();

// `sort` and `ls` compare texts with this method, while `comm`, `join` and the locale of the sandbox compare bytes.
String.prototype.localeCompare = function (other) {
  return Buffer.compare(Buffer.from(this.toString()), Buffer.from(other));
};

// The shell's own programs of these names need worker threads, which the jail refuses. They and the network
// are loaded when they are used: most sessions need neither, and loading them takes as long as the rest.
const customCommands = [
  trapCommand,
  ...addedCommands(outsideCommands),
  ...["python3", "python"].map((name) => ({
    name,
    load: () =>
      outsideCommands(async () => {
        const { pythonCommand } = await import("./wasm/python.ts");
        return pythonCommand(name, disks, outsideCommands);
      }),
  })),
  {
    name: "timeout",
    load: async () => {
      const { timeoutCommand } = await import("./timeout-command.ts");
      return timeoutCommand(
        (inMs) => outsideCommands(() => send({ op: "deadline", inMs })),
        outsideCommands,
      );
    },
  },
  {
    name: "sqlite3",
    load: () =>
      outsideCommands(async () => {
        const { sqliteCommand } = await import("./wasm/sqlite.ts");
        return sqliteCommand(disks, outsideCommands);
      }),
  },
];
const commands = [...getCommandNames(), ...getNetworkCommandNames()] as CommandName[];

/** Stops the running command. */
let stop = new AbortController();

async function run({ command, cwd, env, maxOutputChars, policies }: JailRequest & { op: "run" }) {
  stop = new AbortController();
  forgetDeadlines();
  const start = fs.resolvePath(HOME, cwd ?? ".");
  if (!(await fs.exists(start)) || !(await fs.stat(start)).isDirectory) {
    return finished(1, "", `bash: ${start}: No such directory\n`, maxOutputChars);
  }
  const fetch: SecureFetch = (url, options) =>
    outsideCommands(async () => {
      const { createGuardedFetch } = await import("./guarded-fetch.ts");
      return createGuardedFetch({ ...settings, policies })(url, options);
    });
  // A new shell for each command, so no environment is carried over.
  const bash = new Bash({
    fs,
    cwd: start,
    env: {
      HOME,
      PATH: "/usr/bin:/bin",
      USER: "agent",
      LANG: "C.UTF-8",
      TMPDIR: "/tmp",
      ...env,
    },
    fetch,
    commands,
    customCommands,
    executionLimits: {
      maxSourceBytes: 8 * MIB,
      maxCommandCount: 1_000_000,
      maxLoopIterations: 1_000_000,
      maxAwkIterations: 1_000_000,
      maxLiveBytes: 128 * MIB,
      maxInputBytes: 128 * MIB,
      maxArchiveBytes: 256 * MIB,
      maxArchiveEntryBytes: 32 * MIB,
      maxArchiveCompressedBytes: 32 * MIB,
      maxArchiveEntries: settings.maxFiles,
      maxStringLength: 16 * MIB,
      maxHeredocSize: 8 * MIB,
      maxOutputSize: 32 * MIB,
    },
  });
  try {
    // One more, by which the server sees that the output of a killed command is too long.
    const { exitCode, stdout, stderr } = await withLiveOutput(maxOutputChars + 1, sendOutput, () =>
      // Indentation is a part of here-documents.
      bash.exec(command, { rawScript: true, signal: stop.signal }),
    );
    return finished(exitCode, shownText(stdout), stderr, maxOutputChars);
  } catch (error) {
    // A redirection that the file system refuses ends the whole script.
    return finished(1, "", `bash: ${messageOf(error)}\n`, maxOutputChars);
  }
}

function finished(exitCode: number, stdout: string, stderr: string, maxChars: number): JailReply {
  const truncated = stdout.length > maxChars || stderr.length > maxChars;
  return {
    op: "run",
    exitCode,
    stdout: cutOutput(stdout, maxChars),
    stderr: cutOutput(stderr, maxChars),
    truncated,
  };
}

/** Lists a folder in the byte order of the names, each folder before its entries. */
async function list(path: string, isDeep: boolean, maxEntries: number): Promise<JailReply> {
  const root = fs.resolvePath(HOME, path);
  if (!(await fs.stat(root)).isDirectory) throw new Error(`Not a folder: '${root}'`);
  const entries: (JailReply & { op: "list" })["entries"] = [];
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const names = await fs.readdir(folder);
    for (const name of names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
      const inner = posix.join(folder, name);
      const entry = await describe(inner);
      if (!entry) continue;
      if (entries.length === maxEntries)
        return { op: "list", path: root, entries, truncated: true };
      entries.push({ path: posix.relative(root, inner), ...entry });
      if (isDeep && entry.type === "directory") folders.push(inner);
    }
  }
  return { op: "list", path: root, entries, truncated: false };
}

/** Undefined for deleted files, and for links, which this file system does not follow. */
async function describe(path: string) {
  const stat = await fs.lstat(path).catch(() => undefined);
  if (!stat?.isFile && !stat?.isDirectory) return undefined;
  return {
    type: stat.isDirectory ? ("directory" as const) : ("file" as const),
    size: stat.isDirectory ? 0 : stat.size,
    modifiedAt: stat.mtime.toISOString(),
  };
}

async function read(path: string): Promise<JailReply> {
  const file = fs.resolvePath(HOME, path);
  const stat = await fs.stat(file);
  if (stat.isDirectory) throw isFolder(file);
  if (stat.size > settings.maxFileBytes) throw tooLarge(file);
  return { op: "read", content: new Uint8Array(await fs.readFileBuffer(file)) };
}

async function piece(path: string, offset: number, maxBytes: number): Promise<JailReply> {
  const file = fs.resolvePath(HOME, path);
  if ((await fs.stat(file)).isDirectory) throw isFolder(file);
  return { op: "piece", content: await fs.readPiece(file, offset, maxBytes) };
}

type Change<Op> = JailRequest & { readonly op: Op };

async function place({ path, staged, expected }: Change<"place">): Promise<JailReply> {
  const file = fs.resolvePath(HOME, path);
  const previous = await fs.stat(file).catch(() => undefined);
  if (previous?.isDirectory) throw isFolder(file);
  refuseChanged(file, previous, expected);
  await fs.place(join(settings.dir, staged), file);
  const { size, mtime } = await fs.stat(file);
  return {
    op: "place",
    path: file,
    size,
    modifiedAt: mtime.toISOString(),
    isNew: previous === undefined,
  };
}

async function remove({ path, expected }: Change<"remove">): Promise<JailReply> {
  const file = fs.resolvePath(HOME, path);
  const found = await fs.lstat(file).catch(() => undefined);
  // Otherwise there is nothing to remove.
  if (found) refuseChanged(file, found, expected);
  await fs.rm(file, { recursive: true });
  return { op: "remove" };
}

function refuseChanged(
  file: string,
  found: { readonly size: number; readonly mtime: Date } | undefined,
  expected: ExpectedFile | undefined,
): void {
  if (expected === undefined || (expected === null && !found)) return;
  const isSame =
    found?.size === expected?.size && found?.mtime.toISOString() === expected?.modifiedAt;
  if (!isSame) throw new Error(`ESTALE: was changed, '${file}'`);
}

async function write(path: string, content: Uint8Array): Promise<JailReply> {
  const file = fs.resolvePath(HOME, path);
  if (content.byteLength > settings.maxFileBytes) throw tooLarge(file);
  const folder = fs.resolvePath(file, "..");
  if (!(await fs.exists(folder))) await fs.mkdir(folder, { recursive: true });
  await fs.writeFile(file, content);
  return { op: "write" };
}

async function answer(request: Exclude<JailRequest, { op: "stop" }>): Promise<JailReply> {
  try {
    switch (request.op) {
      case "run":
        return await run(request);
      case "list":
        return await list(request.path, request.isDeep, request.maxEntries);
      case "read":
        return await read(request.path);
      case "piece":
        return await piece(request.path, request.offset, request.maxBytes);
      case "write":
        return await write(request.path, request.content);
      case "place":
        return await place(request);
      case "remove":
        return await remove(request);
    }
  } catch (error) {
    const message = messageOf(error);
    return { op: "error", code: errorCodeOf(message), message };
  }
}

function isFolder(file: string): Error {
  return new Error(`EISDIR: is a directory, '${file}'`);
}

function tooLarge(file: string): Error {
  return new Error(`EFBIG: larger than ${settings.maxFileBytes} bytes, '${file}'`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function sendOutput(stream: "stdout" | "stderr", text: string): void {
  send({ op: "output", stream, text });
}

function send(message: JailMessage): void {
  process.send?.(message);
}

process.on("message", async (request: JailRequest) => {
  if (request.op === "stop") stop.abort();
  else send(await answer(request));
});
process.on("disconnect", () => process.exit(0));
send({ op: "ready" });
