/**
 * Sandboxes with the programs of this machine: real bash, Python, git and everything else on the system,
 * isolated by the kernel. Folders, quotas, queues and access to files work as in the local sandbox; only
 * commands run in another way, each in separate namespaces.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Isolation, isolation, LAUNCHER_PATH } from "@platform/kit/isolation/isolation";
import { codeOf, type Probe } from "@platform/kit/outbound/probe";
import { runtimePath } from "@platform/kit/runtime-path";
import { cutOutput } from "../../cut-output.ts";
import { SandboxError, type SandboxProvider } from "../../port.ts";
import { KEPT_PREFIX, removeFolder } from "../local/folders.ts";
import type { CommandRunner, LocalProviderOptions } from "../local/machine.ts";
import { type Measured, measureFolder } from "../local/measure-folder.ts";
import { createLocalProvider } from "../local/provider.ts";
import { environment, folderCommand, HOME, NODE } from "./namespace.ts";
import { type Host, runCommand } from "./run-command.ts";

const LIMITS = { maxBytes: 1024 ** 3, maxProcesses: 256 };
/** Programs that a session expects besides the shell; the check of an installation names them. */
const PROGRAMS = ["python3", "git", "ffmpeg", "node"];
const CHECK_TIMEOUT_MS = 5_000;
/** Programs that a model would otherwise have to search for. */
const KNOWN_PROGRAMS = [
  ...[
    "bash",
    "grep",
    "sed",
    "awk",
    "find",
    "xargs",
    "diff",
    "date",
    "bc",
    "jq",
    "python3",
    "pip3",
    "node",
    "npm",
  ],
  ...[
    "git",
    "sqlite3",
    "curl",
    "wget",
    "tar",
    "gzip",
    "zip",
    "unzip",
    "xxd",
    "iconv",
    "perl",
    "gcc",
    "make",
  ],
  ...["ffmpeg", "sox", "convert", "pandoc", "pdftotext", "libreoffice"],
];

const ETC = {
  passwd: `root:x:0:0:root:/root:/usr/sbin/nologin
agent:x:1000:1000:agent:${HOME}:/bin/bash
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
`,
  group: "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n",
  hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
};

/** @param found the isolation that the machine offers */
export function createSystemProvider(
  options: LocalProviderOptions,
  found: Isolation = isolation(),
): SandboxProvider {
  if (found.kind !== "namespaces") return unavailable(options, found.missing);
  const host = prepare(options, found.disableUserns);
  const runner = createRunner(host);
  return {
    ...createLocalProvider(options, runner),
    programs: KNOWN_PROGRAMS.filter(isInstalled).join(", "),
    check: async () => [await probe(runner)],
  };
}

/** Whether commands find the program, which see the folders of programs where the machine has them. */
const isInstalled = (name: string): boolean =>
  name === "node" ||
  LAUNCHER_PATH.split(":").some((folder) => existsSync(runtimePath(folder, name)));

function prepare(options: LocalProviderOptions, disableUserns: boolean): Host {
  const socketDir = createSocketDir();
  mkdirSync(options.rootDir, { recursive: true });
  const hidden = [realpathSync(process.cwd()), dirname(realpathSync(options.rootDir))];
  return {
    machine: { etc: runtimePath(socketDir, "etc"), hidden, disableUserns },
    network: options,
    limits: LIMITS,
    socketDir,
  };
}

/** Creates the folder that is mounted into every sandbox of the provider. */
function createSocketDir(): string {
  const socketDir = mkdtempSync(join(tmpdir(), "sandbox-"));
  process.once("exit", () => rmSync(socketDir, { recursive: true, force: true }));
  mkdirSync(runtimePath(socketDir, "etc"));
  for (const [name, text] of Object.entries(ETC)) {
    writeFileSync(runtimePath(socketDir, "etc", name), text);
  }
  return socketDir;
}

function createRunner(host: Host): CommandRunner {
  const inFolder = async (folder: string, ...argv: readonly string[]): Promise<void> => {
    const [program = "", ...args] = folderCommand(host.machine, folder, argv);
    const env = { PATH: environment.PATH } as unknown as NodeJS.ProcessEnv;
    const child = spawn(/* turbopackIgnore: true */ program, args, { env, stdio: "ignore" });
    await once(child, "close");
  };
  return {
    provider: "system",
    async run(dir, command, options, { maxBytes, maxFiles }) {
      const before = await measureFolder(dir, 2 * maxFiles).catch((error: unknown) => {
        if (isDeleted(error)) return { bytes: 0, files: 0 };
        throw new SandboxError("unavailable", `The sandbox cannot be measured: ${error}`);
      });
      // A session without room may delete files, and replace deleted ones.
      const most = {
        bytes: Math.max(maxBytes, before.bytes),
        files: Math.max(maxFiles, before.files),
      };
      const isOverQuota = (unlinked: Measured = { bytes: 0, files: 0 }) =>
        measureFolder(dir, most.files + 1).then(
          ({ bytes, files }) =>
            bytes + unlinked.bytes > most.bytes || files + unlinked.files > most.files,
          (error: unknown) => !isDeleted(error),
        );
      const maxFileBytes = before.bytes > maxBytes ? 0 : maxBytes;
      const startedAt = Date.now();
      const session = { dir, maxFileBytes, isOverQuota };
      const result = await runCommand(command, options, session, host);
      if (!(await isOverQuota())) return result;
      await inFolder(dir, NODE, "-e", DELETE_NEW, String(startedAt));
      const stderr = cutOutput(`${NO_SPACE}\n${result.stderr}`, options.maxOutputChars);
      return { ...result, exitCode: 137, stderr };
    },
    async remove(folder) {
      await inFolder(folder, "sh", "-c", `${OPEN_FOLDERS}; ${EMPTY}`);
      await rmdir(folder).catch((error: unknown) => {
        if (codeOf(error) !== "ENOENT") throw error;
      });
    },
  };
}

/** Returns whether the sandbox was deleted while it was measured. */
const isDeleted = (error: unknown): boolean => codeOf(error) === "ENOENT";

/**
 * Deletes files and folders created after a time, in milliseconds, from the leaves to the root, but no uploads. It
 * changes into each folder, because paths may be too long.
 */
const DELETE_NEW = `
const { chmodSync, existsSync, lstatSync, readdirSync, rmdirSync, unlinkSync } = require("node:fs");
const since = Number(process.argv[1]);
const kept = process.cwd() + "/${KEPT_PREFIX}";
const attempt = (remove, name) => {
  try {
    remove(name);
  } catch {
    // A folder that holds older files, which the command has moved there.
  }
};
const lists = [readdirSync(".")];
const folders = [];
while (lists.length > 0) {
  const name = lists.at(-1).pop();
  if (name === undefined) {
    lists.pop();
    const folder = folders.pop();
    if (folder) process.chdir("..");
    if (folders.length > 0 && folder.isNew) attempt(rmdirSync, folder.name);
    continue;
  }
  const found = lstatSync(name, { throwIfNoEntry: false });
  const isNew = found?.birthtimeMs >= since;
  if (found?.isDirectory()) {
    if ((found.mode & 0o700) !== 0o700) chmodSync(name, found.mode | 0o700);
    process.chdir(name);
    folders.push({ name, isNew });
    lists.push(readdirSync("."));
  } else if (isNew && folders.length > 0 && !existsSync(kept + found.ino + "-" + found.birthtimeMs)) attempt(unlinkSync, name);
}`;
const NO_SPACE = "No space left on device: the files that the command created were deleted";
/** A command may take all rights to its folders from everybody. */
const OPEN_FOLDERS = "find . -type d ! -perm -u=rwx -exec chmod u+rwx {} ';'";
/** A command that is being killed may still create files. */
const EMPTY = "for try in 1 2 3 4 5; do find . -mindepth 1 -delete && break; sleep 0.2; done";

/** Runs a command that names the programs which a session would find. */
async function probe(runner: CommandRunner): Promise<Probe> {
  const settings = ["SANDBOX"];
  const folder = await mkdtemp(join(tmpdir(), "sandbox-check-"));
  try {
    for (const name of ["home", "tmp"]) await mkdir(join(/* turbopackIgnore: true */ folder, name));
    const { exitCode, stdout } = await runner.run(
      folder,
      `for name in ${PROGRAMS.join(" ")}; do command -v "$name" >/dev/null || echo "$name"; done`,
      { timeoutMs: CHECK_TIMEOUT_MS, maxOutputChars: 1_000 },
      { maxBytes: 1024 ** 2, maxFiles: 100 },
    );
    if (exitCode !== 0) throw new Error("The command failed");
    const missing = stdout.split("\n").filter(Boolean);
    const lacking = missing.length > 0 ? `, but not ${missing.join(", ")}` : "";
    const detail = `commands run isolated and have the programs of this machine${lacking}`;
    return { outcome: "accepted", detail, settings };
  } catch {
    return {
      outcome: "address",
      detail: "a command in a sandbox of this machine failed",
      settings,
      remedy: "Install bash and coreutils, or remove SANDBOX for the built-in shell.",
    };
  } finally {
    await runner.remove(folder).catch(() => {});
  }
}

/** Without namespaces, commands could reach the server, so the sandbox refuses to run them. */
function unavailable(options: LocalProviderOptions, missing: string): SandboxProvider {
  const refuse = async () => {
    throw new SandboxError("unavailable", `Sandboxes need what this machine lacks: ${missing}`);
  };
  return {
    ...createLocalProvider(options, { provider: "system", run: refuse, remove: removeFolder }),
    provision: refuse,
    check: async () => [
      {
        outcome: "address",
        detail: `SANDBOX=system needs what this machine lacks: ${missing}`,
        settings: ["SANDBOX"],
        remedy: "Install bubblewrap and allow it user namespaces, or remove SANDBOX.",
      },
    ],
  };
}
