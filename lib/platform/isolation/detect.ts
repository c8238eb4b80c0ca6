/**
 * Detects, once in each process, how far this host can separate a child process from the server.
 * `node --permission` confines JavaScript alone: native code in the child that an attacker takes over
 * has all rights of the server's user and can read the server's secrets in `/proc/<pid>/environ`.
 * Only the kernel can prevent that.
 */
import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { processWide } from "../process-wide.ts";
import { runtimePath } from "../runtime-path.ts";
import { confine, LAUNCHER_PATH } from "./confine.ts";
import type { Isolation } from "./isolation.ts";

/** The host's capabilities; tests pass a host that has fewer. */
export interface Host {
  readonly platform: NodeJS.Platform;
  readonly isRoot: boolean;
  /** Runs a program and returns its output, or null when it fails or is not installed. */
  run(argv: readonly string[]): string | null;
}

const PROBE_TIMEOUT_MS = 10_000;

export const thisHost = (): Host => ({
  platform: process.platform,
  isRoot: process.getuid?.() === 0,
  run([program = "", ...args]) {
    // Otherwise the bundler takes every file of the project for one that may be run.
    const { status, stdout } = spawnSync(/* turbopackIgnore: true */ program, args, {
      encoding: "utf8",
      env: { PATH: LAUNCHER_PATH } as unknown as NodeJS.ProcessEnv,
      timeout: PROBE_TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    return status === 0 ? stdout : null;
  },
});

export function detectIsolation(host: Host = thisHost()): Isolation {
  if (host.platform !== "linux") {
    return { kind: "none", missing: `namespaces, which ${host.platform} does not have` };
  }
  // Without the list of children, the memory of a child behind `bwrap` could not be watched.
  const help = existsSync("/proc/thread-self/children") ? host.run(["bwrap", "--help"]) : null;
  if (help !== null) {
    const disableUserns = help.includes("--disable-userns");
    const isolation = { kind: "namespaces", disableUserns } as const;
    if (starts(isolation, host)) return isolation;
  }
  const missing =
    help === null
      ? "bubblewrap (the program bwrap)"
      : "user namespaces, which this host refuses to bubblewrap (bwrap)";
  if (!host.isRoot) return { kind: "none", missing };
  for (const unshare of [true, false]) {
    const isolation = { kind: "user", unshare, missing } as const;
    if (starts(isolation, host)) return isolation;
  }
  return { kind: "none", missing: `${missing}; setpriv to another user that can read the code` };
}

/** Returns whether Node starts under the isolation and can read the code that it would run. */
function starts(isolation: Isolation, host: Host): boolean {
  const root = realpathSync(process.cwd());
  const code = runtimePath(root, "lib", "platform", "isolation");
  const read = [code, realpathSync(runtimePath(root, "node_modules"))];
  const probe = `process.exit(fs.readdirSync(${JSON.stringify(code)}).length > 0 ? 0 : 1)`;
  const view = { read, write: [], cwd: root, network: false };
  return host.run(confine([process.execPath, "-e", probe], view, isolation)) !== null;
}

/** Returns the isolation that this host offers, detected at the first call. */
export function isolation(): Isolation {
  return processWide("isolation", () => detectIsolation());
}
