/**
 * A jailed child process: `node --permission` with a separate environment, which can read its own code
 * and one session's folder, and write only that folder. A hostile command can block its event loop, so
 * its deadlines and limits are enforced from here. It runs no native code, so the permission model
 * confines it; where the host allows namespaces, the kernel does so too.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { killGroup, residentBytes } from "@platform/kit/isolation/child-process";
import {
  confine,
  type Isolation,
  isolation,
  LAUNCHER_PATH,
} from "@platform/kit/isolation/isolation";
import { findProgram } from "@platform/kit/isolation/program";
import { runtimePath } from "@platform/kit/runtime-path";
import type { CommandOptions } from "../../port.ts";
import { type JailReply, type JailRequest, type JailSettings, jailMessage } from "./protocol.ts";

/** `timeout` is a deadline of the shell's command of this name. `unready` means that it did not start, `died` that it exited by itself, as on a full heap. */
export type Ending = "deadline" | "timeout" | "aborted" | "memory" | "unready" | "died";
export type Outcome = JailReply | { readonly op: "ended"; readonly why: Ending };

/** The limit of V8's heap. Buffers and code are outside it and count for the resident size. */
const HEAP_MIB = 256;
/** Python's own limit of recursion needs more than V8's default. */
const STACK_KIB = 3900;
const MAX_RESIDENT_BYTES = 512 * 1024 * 1024;
const MEMORY_CHECK_MS = 200;
const START_TIMEOUT_MS = 30_000;
/**
 * The kernel kills the child after this much CPU time. Only an orphan gets that far, whose server
 * was killed while a command blocked it; a server replaces its jails much earlier.
 */
const CPU_SECONDS = 600;
const MAX_BUSY_MS = 60_000;

/**
 * How long a stopped script has to end by itself. just-bash gives its commands 100 ms; then it leaves one that
 * does not end behind, so the process is killed before.
 */
const STOP_MS = 50;

/** How long the shell has to end a command at the deadline of a `timeout`. */
const TIMEOUT_GRACE_MS = 1_000;

/** Low priority, no core files, room for the stack, and no orphan where the system can tie a child to its parent. */
const LAUNCH = `ulimit -c 0; ulimit -t ${CPU_SECONDS}; ulimit -s 8192 2>/dev/null
if setpriv --pdeathsig KILL true 2>/dev/null; then exec setpriv --pdeathsig KILL nice -n 10 "$@"; fi
exec nice -n 10 "$@"`;

/** Next.js declares NODE_ENV as required, but this environment has nothing of the server's. */
const environment = { PATH: LAUNCHER_PATH } as unknown as NodeJS.ProcessEnv;

interface RequestOptions extends Pick<CommandOptions, "timeoutMs" | "onOutput"> {
  readonly signal: AbortSignal | undefined;
}

export class Jail {
  readonly #child: ChildProcess;
  readonly #ready: Promise<Outcome>;
  #settle: ((outcome: Outcome) => void) | undefined;
  #onOutput: CommandOptions["onOutput"];
  #alive = true;
  #exited = false;
  #busyMs = 0;
  #timeout: NodeJS.Timeout | undefined;

  /** @param onExit is called once, when the process has exited. */
  constructor(settings: JailSettings, onExit: () => void) {
    this.#ready = this.#next(START_TIMEOUT_MS);
    this.#child = spawn("/bin/sh", ["-c", LAUNCH, "sh", ...commandOf(settings, isolation())], {
      cwd: settings.dir,
      env: environment,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
      // In its own process group, for `killGroup`.
      detached: true,
    });
    this.#child.on("message", (message) => {
      const { data } = jailMessage.safeParse(message);
      if (!data) this.kill("died");
      else if (data.op === "output") this.#onOutput?.(data.stream, data.text);
      else if (data.op === "deadline") this.#endAfter(data.inMs);
      else this.#end(data);
    });
    this.#child.once("error", () => this.#handleExit(onExit));
    // Not "exit": the spawned process may exit before the confined program that it started.
    this.#child.once("close", () => this.#handleExit(onExit));
    this.#keepServerAlive(false);
  }

  /** Whether it can take a request. */
  get isAlive(): boolean {
    return this.#alive;
  }

  /** Whether it has worked for so long that a new jail should replace it. */
  get isWorn(): boolean {
    return this.#busyMs > MAX_BUSY_MS;
  }

  /**
   * Runs one request at a time. A command that ends as soon as it is stopped leaves the jail alive; any other ends
   * with it.
   */
  async request(
    request: JailRequest,
    { timeoutMs, signal, onOutput }: RequestOptions,
  ): Promise<Outcome> {
    this.#keepServerAlive(true);
    const started = performance.now();
    let grace: NodeJS.Timeout | undefined;
    const abort = () => {
      if (request.op !== "run") return this.kill("aborted");
      // The command has its result already.
      this.#onOutput = undefined;
      grace = setTimeout(() => this.kill("aborted"), STOP_MS);
      this.#send({ op: "stop" });
    };
    try {
      const ready = await this.#ready;
      if (signal?.aborted) return { op: "ended", why: "aborted" };
      if (ready.op !== "ready" || !this.#alive) return { op: "ended", why: "unready" };
      signal?.addEventListener("abort", abort, { once: true });
      const reply = this.#next(timeoutMs);
      this.#onOutput = onOutput;
      this.#send(request);
      return await reply;
    } finally {
      clearTimeout(grace);
      signal?.removeEventListener("abort", abort);
      this.#busyMs += performance.now() - started;
      this.#keepServerAlive(false);
    }
  }

  #send(request: JailRequest): void {
    this.#child.send(request, (error) => error && this.kill("died"));
  }

  kill(why: Ending): void {
    this.#alive = false;
    if (!this.#exited) killGroup(this.#child.pid);
    this.#end({ op: "ended", why });
  }

  /** Resolves with the next reply, or with the reason why the child ended before it. */
  #next(timeoutMs: number): Promise<Outcome> {
    return new Promise((resolve) => {
      const deadline = setTimeout(() => this.kill("deadline"), timeoutMs);
      const watch = setInterval(() => void this.#checkMemory(), MEMORY_CHECK_MS);
      this.#settle = (outcome) => {
        clearTimeout(deadline);
        clearInterval(watch);
        resolve(outcome);
      };
    });
  }

  /** Ends the command if its shell does not end it itself at the deadline of a `timeout`. */
  #endAfter(ms: number | null): void {
    clearTimeout(this.#timeout);
    if (ms === null || !this.#settle) return;
    this.#timeout = setTimeout(() => this.kill("timeout"), ms + TIMEOUT_GRACE_MS);
  }

  #end(outcome: Outcome): void {
    clearTimeout(this.#timeout);
    this.#settle?.(outcome);
    this.#settle = undefined;
    this.#onOutput = undefined;
  }

  #handleExit(onExit: () => void): void {
    if (this.#exited) return;
    this.#exited = true;
    this.#alive = false;
    this.#end({ op: "ended", why: "died" });
    onExit();
  }

  /** Without /proc, only the heap limit applies. */
  async #checkMemory(): Promise<void> {
    const resident = await residentBytes(this.#child.pid);
    if (resident > MAX_RESIDENT_BYTES && this.#settle) this.kill("memory");
  }

  /** An idle jail must not keep the server from exiting. */
  #keepServerAlive(keep: boolean): void {
    if (keep) {
      this.#child.ref();
      this.#child.channel?.ref?.();
    } else {
      this.#child.unref();
      this.#child.channel?.unref?.();
    }
  }
}

/**
 * Returns the command line of a jail, which has a network because commands may call the service.
 */
function commandOf(settings: JailSettings, found: Isolation): string[] {
  const program = findProgram("packages/sandbox/src/adapters/local/runner", [
    "packages/sandbox/src",
    "packages/kit", // Not only src: Node resolves its modules by its package.json.
  ]);
  const root = realpathSync(process.cwd());
  const read = [
    ...program.code,
    runtimePath(root, "package.json"),
    // Both paths of a linked folder: modules are resolved in the one and loaded from the other.
    runtimePath(root, "node_modules"),
    realpathSync(runtimePath(root, "node_modules")),
    settings.dir,
  ];
  const view = { read, write: [settings.dir], cwd: settings.dir, network: true };
  const argv = [
    process.execPath,
    "--permission",
    ...view.read.map((path) => `--allow-fs-read=${path}`),
    ...view.write.map((path) => `--allow-fs-write=${path}`),
    `--max-old-space-size=${HEAP_MIB}`,
    "--disallow-code-generation-from-strings",
    // The memory of a program in WebAssembly is freed with its objects.
    "--expose-gc",
    `--stack-size=${STACK_KIB}`,
    "--no-warnings",
    program.path,
    JSON.stringify(settings),
  ];
  // Another isolation would run it as another user, who could not change the session's files.
  if (found.kind !== "namespaces") return argv;
  return confine(argv, view, found);
}
