/** Runs one command in separate namespaces, which end with it and with all processes that it has started. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { killGroup } from "@platform/kit/isolation/child-process";
import type { TurnPolicies } from "@platform/kit/network-policy";
import { cutOutput } from "../../cut-output.ts";
import { type CommandOptions, type CommandResult, SandboxError } from "../../port.ts";
import type { Measured } from "../local/measure-folder.ts";
import type { NetworkRules } from "../network-rules.ts";
import { environment, type Machine, shellCommand } from "./namespace.ts";
import { originInside, startProxy } from "./network-proxy.ts";
import { type Excess, type Limits, watch } from "./watch-command.ts";

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
