/**
 * Finds out, once for each process, how far this host can cut a child process off from the server.
 * A child under `node --permission` is held by JavaScript alone: native code in it that is taken
 * over has all rights of the server's user, and reads the server's secrets in `/proc/<pid>/environ`.
 * Only the kernel stops that.
 */
import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { log } from "../log.ts";
import { confine } from "./confine.ts";

export type Isolation =
  /** Another user in namespaces of its own, with only the files that it is given. */
  | { readonly kind: "namespaces"; readonly disableUserns: boolean }
  /** Another user; with `unshare`, also without a network and without other processes in sight. */
  | { readonly kind: "user"; readonly unshare: boolean; readonly missing: string }
  /** The server's own user. */
  | { readonly kind: "none"; readonly missing: string };

/** What a host offers; tests pass less than there is. */
export interface Host {
  readonly platform: NodeJS.Platform;
  readonly isRoot: boolean;
  /** Runs a program to its end and returns its output, or null when it fails or is not there. */
  run(argv: readonly string[]): string | null;
}

const PROBE_TIMEOUT_MS = 10_000;

export const thisHost = (): Host => ({
  platform: process.platform,
  isRoot: process.getuid?.() === 0,
  run([program = "", ...args]) {
    const { status, stdout } = spawnSync(program, args, {
      encoding: "utf8",
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" } as unknown as NodeJS.ProcessEnv,
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

/** Whether Node starts there and finds the code that it would run. */
function starts(isolation: Isolation, host: Host): boolean {
  const root = realpathSync(process.cwd());
  const code = join(root, "lib", "platform", "isolation");
  const read = [code, realpathSync(join(root, "node_modules"))];
  const probe = `process.exit(fs.readdirSync(${JSON.stringify(code)}).length > 0 ? 0 : 1)`;
  const view = { read, write: [], cwd: root, network: false };
  return host.run(confine([process.execPath, "-e", probe], view, isolation)) !== null;
}

declare global {
  // Shared by all routes, which Next may load separately.
  var agentPlatformIsolation: Isolation | undefined;
}

export function isolation(): Isolation {
  globalThis.agentPlatformIsolation ??= detectIsolation();
  return globalThis.agentPlatformIsolation;
}

/** Called once in each server process, so that an operator knows and no request waits for it. */
export function reportIsolation(): void {
  const found = isolation();
  if (found.kind === "namespaces") {
    log().info({ isolation: found.kind }, "media decoders and sandboxes run isolated");
    return;
  }
  const message =
    found.kind === "user"
      ? "media decoders run as another user, but see the file system"
      : "media decoders run as this server's user and could read its secrets if taken over";
  log().warn({ isolation: found.kind, missing: found.missing }, message);
}
