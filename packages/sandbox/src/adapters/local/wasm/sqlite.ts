/**
 * The command `sqlite3`: SQLite in WebAssembly, on the jail's own thread. A database is read into memory,
 * and replaces its file as a whole when it has changed.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { posix } from "node:path";
import { type Command, type CommandContext, defineCommand, type ExecResult } from "just-bash";
import type initSqlJs from "sql.js";
import type { Database } from "sql.js";
import { DeadlineError, TERMINATED, type Watchdog, watchdogOfCommand } from "../deadlines.ts";
import { type LiveStreams, liveStreams } from "../live-output.ts";
import type { SessionDisks } from "../session-disk.ts";
import { limitMemory } from "./emscripten.ts";
import type { Format } from "./sqlite-format.ts";
import { isMode, SqliteError, SqliteShell } from "./sqlite-shell.ts";
import { OutputBuffer } from "./streams.ts";

/** A database takes its size three times: as it was read, as it is, and as it is written. */
const MAX_DATABASE_BYTES = 64 * 1024 * 1024;
const MAX_IMPORT_BYTES = 64 * 1024 * 1024;
/** For sorting and the cache. The database itself is outside of it. */
const MAX_MEMORY_BYTES = 96 * 1024 * 1024;
const MAX_STDERR_BYTES = 1024 * 1024;
const require = createRequire(import.meta.url);
const CODE = require.resolve("sql.js/dist/sql-wasm.wasm");

/** @param outside runs work outside the restrictions of the shell's commands */
export function sqliteCommand(disks: SessionDisks, outside: <T>(work: () => T) => T): Command {
  return defineCommand("sqlite3", async (args, context) => {
    const live = liveStreams();
    const watchdog = watchdogOfCommand();
    return outside(() => runSqlite(args, context, disks, live, watchdog));
  });
}

async function runSqlite(
  args: readonly string[],
  context: CommandContext,
  disks: SessionDisks,
  live: LiveStreams,
  watchdog: Watchdog,
): Promise<ExecResult> {
  const stdout = new OutputBuffer(
    (context.limits?.maxOutputSize ?? 0) - MAX_STDERR_BYTES,
    live.stdout,
  );
  const stdin = Buffer.from(context.stdin as unknown as string, "latin1");
  const { exitCode: own } = process;
  let database: Database | undefined;
  const finished = (exitCode: number, stderr: string): ExecResult => ({
    stdout: stdout.bytes.toString("latin1"),
    stdoutKind: "bytes",
    stderr,
    exitCode,
  });
  try {
    const { path, inputs, format, isReadOnly } = optionsOf(args);
    const absolute = (name: string) => posix.resolve(context.cwd, name);
    const file = path === ":memory:" || path === "" ? undefined : absolute(path);
    const before =
      file !== undefined && disks.exists(file)
        ? disks.readFile(file, MAX_DATABASE_BYTES)
        : undefined;
    database = await openDatabase(before);
    const opened = before ?? database.export();
    const readFile = (name: string) =>
      name === "/dev/stdin" ? stdin : disks.readFile(absolute(name), MAX_IMPORT_BYTES);
    const shell = new SqliteShell(database, format, stdout, readFile, watchdog);
    let failure: unknown;
    try {
      for (const input of inputs.length > 0 ? inputs : [stdin.toString()]) await shell.run(input);
    } catch (error) {
      if (error instanceof DeadlineError) throw error;
      failure = error;
    }
    // The statements before one that failed have been committed.
    if (file !== undefined && !isReadOnly) saveDatabase(disks, file, opened, database);
    if (failure) throw failure;
    return finished(0, "");
  } catch (error) {
    if (error instanceof DeadlineError) {
      database = undefined;
      // It would use its only instance again.
      delete require.cache[require.resolve("sql.js")];
      live.stderr?.(Buffer.from("Error: stopped by timeout, the database is unchanged\n"));
      return finished(TERMINATED, "");
    }
    const message = error instanceof Error ? error.message : String(error);
    return finished(1, `Error: ${message}\n`);
  } finally {
    database?.close();
    process.exitCode = own;
  }
}

async function openDatabase(bytes: Uint8Array | undefined): Promise<Database> {
  const init: typeof initSqlJs = require("sql.js");
  const { Database: Opened } = await init({
    instantiateWasm(imports, receive) {
      const module = new WebAssembly.Module(readFileSync(CODE));
      const instance = new WebAssembly.Instance(module, imports);
      for (const value of Object.values(instance.exports)) {
        if (value instanceof WebAssembly.Memory) limitMemory(value, MAX_MEMORY_BYTES);
      }
      receive(instance);
      return instance.exports;
    },
  });
  const database = new Opened(bytes);
  const pageSize = bytes ? ((bytes[16] ?? 0) << 8) | (bytes[17] ?? 0) || 4096 : 4096;
  database.run(`PRAGMA max_page_count = ${Math.floor(MAX_DATABASE_BYTES / pageSize)}`);
  return database;
}

function saveDatabase(
  disks: SessionDisks,
  file: string,
  opened: Uint8Array,
  database: Database,
): void {
  // Like the original program with a transaction that is left open.
  database.run("SAVEPOINT ending; ROLLBACK");
  const after = database.export();
  if (Buffer.compare(after, opened) !== 0) disks.replaceFile(file, after);
}

function optionsOf(args: readonly string[]) {
  const format: Format = { mode: "list", header: undefined, separator: "|", nullValue: "" };
  const words: string[] = [];
  const first: string[] = [];
  let isReadOnly = false;
  for (let n = 0; n < args.length; n++) {
    const arg = args[n] ?? "";
    const option = /^--?([a-z]+)$/.exec(arg)?.[1];
    if (option === undefined) words.push(arg);
    else if (isMode(option)) format.mode = option;
    else if (option === "header" || option === "noheader") format.header = option === "header";
    else if (option === "separator") format.separator = args[++n] ?? "";
    else if (option === "nullvalue") format.nullValue = args[++n] ?? "";
    else if (option === "cmd") first.push(args[++n] ?? "");
    else if (option === "readonly") isReadOnly = true;
    else if (option === "version") words.splice(0, 2, ":memory:", "SELECT sqlite_version()");
    else if (option !== "bail" && option !== "batch")
      throw new SqliteError(`unknown option: ${arg}`);
  }
  const [path = "", ...inputs] = words;
  return { path, inputs: inputs.length > 0 ? [...first, ...inputs] : inputs, format, isReadOnly };
}
