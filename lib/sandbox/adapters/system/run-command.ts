/** Runs one command in separate namespaces, which end with it and with all processes that it has started. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync, type StatsFs } from "node:fs";
import { readdir, readFile, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { TurnPolicies } from "../../../contract/network-policy.ts";
import { killGroup } from "../../../platform/isolation/child-process.ts";
import { codeOf } from "../../../platform/outbound/probe.ts";
import { cutOutput } from "../../cut-output.ts";
import { type CommandOptions, type CommandResult, SandboxError } from "../../port.ts";
import type { Measured } from "../local/measure-folder.ts";
import type { NetworkRules } from "../network-rules.ts";
import { environment, type Machine, shellCommand } from "./namespace.ts";
import { originInside, startProxy } from "./network-proxy.ts";

export interface Session {
  /** The session's folder, with `home` and `tmp`. */
  readonly dir: string;
  /** The limit for one file, in bytes; 0 when the session may only delete. */
  readonly maxFileBytes: number;
  /** Measures the folder. @param unlinked files that are still open, but in no folder */
  isOverQuota(unlinked: Measured): Promise<boolean>;
}

export interface Host {
  readonly machine: Machine;
  readonly network: NetworkRules;
  readonly limits: Limits;
  /** A short path, because the paths of sockets are limited to about a hundred bytes. */
  readonly socketDir: string;
}

/** The kernel ends a single process that has used so much CPU time, in seconds. */
const MAX_CPU_SECONDS = 600;
const MAX_OPEN_FILES = 1_024;
/** The most bytes of UTF-8 for one character, as JavaScript counts them. */
const BYTES_PER_CHAR = 3;
/** The pause after each discarded piece of output: discarding must not occupy the server. */
const DISCARD_PAUSE_MS = 4;

/**
 * Reads the folder and the command from file 3: arguments are limited, and other users of the machine
 * see them.
 */
const SCRIPT = [
  `ulimit -c 0 -t ${MAX_CPU_SECONDS} -n ${MAX_OPEN_FILES} -d "$1" -u "$2" -f "$3"`,
  `IFS= read -r -d "" cwd <&3; command=$(cat <&3); exec 3<&-`,
  `cd -- "$cwd" || exit 1`,
  // Still line 1, so messages of bash count the lines of the command.
  `set --; unset cwd; eval "unset command; $command"`,
].join("; ");

type Ending = Excess | "deadline" | "aborted";

export async function runCommand(
  command: string,
  {
    cwd = ".",
    env = {},
    timeoutMs,
    maxOutputChars,
    signal,
    policies,
    onOutput,
  }: CommandOptions & { readonly policies?: TurnPolicies | undefined },
  session: Session,
  host: Host,
): Promise<CommandResult> {
  const socket = join(host.socketDir, randomUUID());
  const proxy = await startProxy(socket, { ...host.network, policies });
  const { maxBytes, maxProcesses } = host.limits;
  const kib = (bytes: number) => String(Math.ceil(bytes / 1024));
  const limits = [kib(maxBytes), String(maxProcesses), kib(session.maxFileBytes)];
  const argv = shellCommand(host.machine, { dir: session.dir, socket }, [
    ...["-c", SCRIPT, "bash", ...limits],
  ]);
  let ending: Ending | undefined;
  const child = spawn("nice", ["-n", "10", ...argv], {
    env: { ...environment, ...reachable(env, host.network) } as unknown as NodeJS.ProcessEnv,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    // In its own process group, for `killGroup`.
    detached: true,
  });
  const end = (why: Ending) => {
    ending ??= why;
    killInit(child.pid);
    killGroup(child.pid);
  };
  const abort = () => end("aborted");
  const deadline = setTimeout(() => end("deadline"), timeoutMs);
  const unwatch = watch(
    child.pid ?? 0,
    { dir: session.dir, limits: host.limits },
    session.isOverQuota,
    end,
  );
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();
  try {
    send(child, `${clean(cwd)}\0${clean(command)}`);
    const maxBytesOut = (maxOutputChars + 1) * BYTES_PER_CHAR;
    const [stdout, stderr, [code, killedBy]] = await Promise.all([
      collect(child.stdout, maxBytesOut, (text) => onOutput?.("stdout", text)),
      collect(child.stderr, maxBytesOut, (text) => onOutput?.("stderr", text)),
      once(child, "close"),
    ]);
    if (ending === undefined && (killedBy !== null || stderr.startsWith("bwrap: "))) {
      throw new SandboxError("unavailable", "The sandbox did not start");
    }
    const notes = [...(ending ? [reasonOf(ending, timeoutMs)] : []), ...proxy.refusals];
    const errors = `${notes.map((note) => `${note}\n`).join("")}${stderr}`;
    return {
      exitCode: ending === undefined ? code : ending === "deadline" ? 124 : 137,
      stdout: cutOutput(stdout, maxOutputChars),
      stderr: cutOutput(errors, maxOutputChars),
      truncated: stdout.length > maxOutputChars || errors.length > maxOutputChars,
    };
  } catch (cause) {
    end("aborted");
    if (cause instanceof SandboxError) throw cause;
    throw new SandboxError("unavailable", `The sandbox did not start: ${cause}`);
  } finally {
    clearTimeout(deadline);
    unwatch();
    signal?.removeEventListener("abort", abort);
    proxy.close();
    await rm(socket, { force: true });
  }
}

/** The text of a file, path or variable cannot have this character. */
const clean = (text: string): string => text.replaceAll("\0", "");

function send(child: ChildProcess, text: string): void {
  const input = child.stdio[3];
  if (!input || !("end" in input)) return;
  // A shell that is killed does not read it.
  input.on("error", () => {});
  input.end(text);
}

async function collect(
  output: Readable | null,
  maxBytes: number,
  onText: (text: string) => void,
): Promise<string> {
  const decoder = new TextDecoder();
  const texts: string[] = [];
  let bytes = 0;
  for await (const chunk of output ?? []) {
    if (bytes < maxBytes) {
      const text = decoder.decode(chunk.subarray(0, maxBytes - bytes), { stream: true });
      texts.push(text);
      onText(text);
    } else await delay(DISCARD_PAUSE_MS);
    bytes += chunk.length;
  }
  return texts.join("") + decoder.decode();
}

/** Replaces the service's origin where it is the value of a variable. */
function reachable(
  env: Readonly<Record<string, string>>,
  { serviceOrigin }: NetworkRules,
): Record<string, string> {
  const inside = (value: string) =>
    serviceOrigin !== undefined && value === serviceOrigin ? originInside(serviceOrigin) : value;
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, inside(value)]));
}

const reasons: Readonly<Record<Exclude<Ending, "deadline">, string>> = {
  aborted: "Killed: the command was stopped",
  memory: "Killed: the command used too much memory",
  processes: "Killed: the command started too many processes",
  disk: "Killed: the command filled the disk",
  traced: "Killed: the command traced a process of its sandbox",
  hidden: "Killed: the command has files open that cannot be measured",
};

const reasonOf = (ending: Ending, timeoutMs: number): string =>
  ending === "deadline" ? `Killed: the deadline of ${timeoutMs / 1000} s passed` : reasons[ending];

/** `traced`: a process of the command stopped or steers the one that ends its namespaces. */
type Excess = "memory" | "processes" | "disk" | "traced" | "hidden";

interface Limits {
  /** The resident memory of all processes together. */
  readonly maxBytes: number;
  readonly maxProcesses: number;
}

const INTERVAL_MS = 200;
const PAGE_BYTES = 4096;
const BLOCK_BYTES = 512;
/** The limit for the descriptors of all threads together, which bounds the time to look at them. */
const MAX_DESCRIPTORS = 50_000;

/**
 * Watches one command's use of the machine. The kernel limits a single process (`ulimit`); the total of
 * all its processes is measured here, a few times a second.
 * @param bwrap the process id of the command's bubblewrap
 * @param dir the session's folder
 * @param isOverQuota measures the folder; called when its file system has lost room
 * @param onExcess called at most once
 * @returns a function that ends the watch
 */
function watch(
  bwrap: number,
  { dir, limits }: { readonly dir: string; readonly limits: Limits },
  isOverQuota: Session["isOverQuota"],
  onExcess: (excess: Excess) => void,
): () => void {
  let isOver = false;
  let room: StatsFs | undefined;
  const look = async (): Promise<Excess | undefined> => {
    const init = await firstChild(bwrap);
    const program = await firstChild(init);
    if ((await isTraced(init)) || (await isTraced(program))) return "traced";
    const used = await measureProcesses(program);
    // First, because each process also takes some memory.
    if (used.processes > limits.maxProcesses) return "processes";
    if (used.bytes > limits.maxBytes) return "memory";
    const before = room;
    room = await statfs(dir);
    const hasShrunk = !before || room.bfree < before.bfree || room.ffree < before.ffree;
    if (!hasShrunk) return undefined;
    const unlinked = await measureUnlinked(program);
    if (unlinked === null) return "hidden";
    return (await isOverQuota(unlinked)) ? "disk" : undefined;
  };
  const next = () => {
    timer = setTimeout(async () => {
      // A folder or process that is gone has no excess.
      const excess = await look().catch(() => undefined);
      if (isOver) return;
      if (excess === undefined) return next();
      onExcess(excess);
    }, INTERVAL_MS);
  };
  let timer: NodeJS.Timeout;
  next();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/**
 * Kills the first process of a command's namespaces, and with it all others, even if it was made to
 * ignore the death of its parent. Without effect once it has ended.
 */
function killInit(bwrap: number | undefined): void {
  try {
    const children = readFileSync(`/proc/${bwrap}/task/${bwrap}/children`, "utf8");
    for (const pid of children.split(" ").filter(Boolean)) process.kill(Number(pid), "SIGKILL");
  } catch {
    // It has ended, or has not started yet and dies with its parent.
  }
}

async function isTraced(pid: string): Promise<boolean> {
  return !/^TracerPid:\t0$/m.test(await readFile(`/proc/${pid}/status`, "utf8"));
}

/**
 * Measures the processes of the namespace by its own /proc, which lists all of them, regardless of their
 * parent.
 * @param program a process of the namespace
 */
async function measureProcesses(program: string): Promise<{ bytes: number; processes: number }> {
  const proc = `/proc/${program}/root/proc`;
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name));
  const sizes = await Promise.all(
    pids.map(async (pid) => {
      const statm = await readFile(join(proc, pid, "statm"), "utf8").catch(() => "");
      return Number(statm.split(" ")[1] ?? 0) * PAGE_BYTES;
    }),
  );
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), processes: pids.length };
}

/**
 * Measures the files that processes of the namespace hold open and that are in no folder any more. Each thread can have
 * descriptors of its own.
 *
 * @returns null when a process hides its descriptors, or has too many
 */
async function measureUnlinked(program: string): Promise<Measured | null> {
  const proc = `/proc/${program}/root/proc`;
  const found = new Map<string, number>();
  let descriptors = 0;
  for (const pid of (await readdir(proc)).filter((name) => /^\d+$/.test(name))) {
    for (const thread of await entriesIn(join(proc, pid, "task"))) {
      const task = join(proc, pid, "task", thread);
      const open = await entriesIn(join(task, "fd")).catch(() => null);
      if (open === null && !(await hasEnded(task))) return null;
      descriptors += open?.length ?? 0;
      if (descriptors > MAX_DESCRIPTORS) return null;
      const files = await Promise.all(
        (open ?? []).map((fd) => stat(join(task, "fd", fd)).catch(() => null)),
      );
      for (const file of files) {
        if (!file?.isFile() || file.nlink > 0) continue;
        found.set(`${file.dev} ${file.ino}`, file.blocks * BLOCK_BYTES);
      }
    }
  }
  return { bytes: [...found.values()].reduce((sum, size) => sum + size, 0), files: found.size };
}

/** Returns the names in a folder of /proc; none when its process has ended. */
const entriesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: unknown) => {
    if (["ENOENT", "ESRCH"].includes(codeOf(error) ?? "")) return [];
    throw error;
  });

/** Returns whether a thread has ended. It has no descriptors then, but only root may see that. */
async function hasEnded(task: string): Promise<boolean> {
  const status = await readFile(join(task, "status"), "utf8").catch(() => "State:\tX");
  return /^State:\t[ZX]/m.test(status);
}

async function firstChild(pid: number | string): Promise<string> {
  const [child] = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).split(" ");
  if (!child) throw new Error("no child");
  return child;
}
