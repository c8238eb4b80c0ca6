/**
 * One jailed child process: `node --permission` with an empty environment that may read its own
 * code and one session's folder, write that folder, and nothing else. Its event loop can be blocked
 * by a hostile command, so everything that ends it is done from here. It runs no native code, so the
 * permission model holds it; in namespaces, where the host allows them, the kernel does so as well.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { confine } from "../../../platform/isolation/confine.ts";
import { isolation } from "../../../platform/isolation/detect.ts";
import type { Isolation } from "../../../platform/isolation/isolation.ts";
import { residentBytes } from "../../../platform/isolation/resident-bytes.ts";
import { type JailReply, type JailRequest, type JailSettings, jailReply } from "./protocol.ts";

/** `unready`: it did not start; `died`: by itself, as V8 does when its heap is full. */
export type Ending = "deadline" | "aborted" | "memory" | "unready" | "died";
export type Outcome = JailReply | { readonly op: "ended"; readonly why: Ending };

/** V8's heap; what lies outside it (buffers, code) is bounded by the resident size. */
const HEAP_MIB = 256;
const MAX_RESIDENT_BYTES = 512 * 1024 * 1024;
const MEMORY_CHECK_MS = 200;
const START_TIMEOUT_MS = 30_000;
/**
 * Seconds of CPU after which the kernel ends the child. Only an orphan gets there, whose server
 * was killed while a command kept it from noticing; a living server replaces it long before.
 */
const CPU_SECONDS = 600;
const WORN_MS = 60_000;

/** Low priority, no core files, no orphan: where the system can tie the child to its parent, it does. */
const LAUNCH = `ulimit -c 0; ulimit -t ${CPU_SECONDS}
if setpriv --pdeathsig KILL true 2>/dev/null; then exec setpriv --pdeathsig KILL nice -n 10 "$@"; fi
exec nice -n 10 "$@"`;

/** Next's types want NODE_ENV in every environment; this one is to be empty. */
const nothing = {} as NodeJS.ProcessEnv;

export class Jail {
  readonly #child: ChildProcess;
  readonly #ready: Promise<Outcome>;
  #settle: ((outcome: Outcome) => void) | undefined;
  #alive = true;
  #exited = false;
  #busyMs = 0;

  /** @param onExit called once, when the process is gone. */
  constructor(settings: JailSettings, onExit: () => void) {
    this.#ready = this.#next(START_TIMEOUT_MS);
    this.#child = spawn("/bin/sh", ["-c", LAUNCH, "sh", ...commandOf(settings, isolation())], {
      cwd: settings.dir,
      env: nothing,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
    });
    this.#child.on("message", (message) => {
      const reply = jailReply.safeParse(message);
      if (reply.success) this.#end(reply.data);
      else this.kill("died");
    });
    this.#child.once("error", () => this.#gone(onExit));
    // Not "exit": what was spawned may end before the confined program that it started.
    this.#child.once("close", () => this.#gone(onExit));
    this.#hold(false);
  }

  /** True while it can take a request. */
  get alive(): boolean {
    return this.#alive;
  }

  /** True when it has worked so long that a new one should take over. */
  get worn(): boolean {
    return this.#busyMs > WORN_MS;
  }

  /** One at a time. An outcome of `ended` means that this jail is dead. */
  async request(
    request: JailRequest,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Outcome> {
    this.#hold(true);
    const started = performance.now();
    const abort = () => this.kill("aborted");
    try {
      signal?.addEventListener("abort", abort, { once: true });
      if (signal?.aborted) abort();
      const ready = await this.#ready;
      if (signal?.aborted) return { op: "ended", why: "aborted" };
      if (ready.op !== "ready" || !this.#alive) return { op: "ended", why: "unready" };
      const reply = this.#next(timeoutMs);
      this.#child.send(request, (error) => error && this.kill("died"));
      return await reply;
    } finally {
      signal?.removeEventListener("abort", abort);
      this.#busyMs += performance.now() - started;
      this.#hold(false);
    }
  }

  kill(why: Ending): void {
    this.#alive = false;
    this.#child.kill("SIGKILL");
    this.#end({ op: "ended", why });
  }

  /** The next reply, or how the child ended before it. */
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

  #end(outcome: Outcome): void {
    this.#settle?.(outcome);
    this.#settle = undefined;
  }

  #gone(onExit: () => void): void {
    if (this.#exited) return;
    this.#exited = true;
    this.#alive = false;
    this.#end({ op: "ended", why: "died" });
    onExit();
  }

  /** Where there is no /proc, the heap limit stands alone. */
  async #checkMemory(): Promise<void> {
    const resident = await residentBytes(this.#child.pid);
    if (resident > MAX_RESIDENT_BYTES && this.#settle) this.kill("memory");
  }

  /** An idle jail must not keep the server from ending. */
  #hold(busy: boolean): void {
    if (busy) {
      this.#child.ref();
      this.#child.channel?.ref?.();
    } else {
      this.#child.unref();
      this.#child.channel?.unref?.();
    }
  }
}

/** The command line of a jail; `network` stays, because commands may call the service. */
function commandOf(settings: JailSettings, found: Isolation): string[] {
  // Not import.meta.url: the server is bundled, the runner is not.
  const root = realpathSync(process.cwd());
  const code = join(root, "lib", "sandbox");
  const read = [
    code,
    join(root, "lib", "platform", "outbound"),
    join(root, "package.json"),
    // Both, where one is a link to the other: modules are looked up here and loaded there.
    join(root, "node_modules"),
    realpathSync(join(root, "node_modules")),
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
    "--no-warnings",
    join(code, "adapters", "local", "runner.ts"),
    JSON.stringify(settings),
  ];
  // As another user it could not change what earlier jails of the session wrote.
  if (found.kind !== "namespaces") return argv;
  return confine(argv, view, found);
}
