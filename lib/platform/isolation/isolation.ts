/** Starts programs isolated from the server, as far as the host allows. */
import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { runtimePath } from "../../../packages/kit/src/runtime-path.ts";
import { processWide } from "../process-wide.ts";

/** How far the kernel separates a child process from the server. */
export type Isolation =
  /** Another user in separate namespaces, which sees only the files that it is given. */
  | { readonly kind: "namespaces"; readonly disableUserns: boolean }
  /** Another user; with `unshare`, also without a network and without sight of other processes. */
  | { readonly kind: "user"; readonly unshare: boolean; readonly missing: string }
  /** The server's own user. */
  | { readonly kind: "none"; readonly missing: string };

/** The paths that a confined program can access. All paths are real paths, without symbolic links. */
export interface View {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly cwd: string;
  /** Whether it shares the host's network. Without it there is none, not even the host's loopback. */
  readonly network: boolean;
}

/**
 * Where a confined command's launchers (bwrap, setpriv, unshare) are looked for. Every process that starts
 * one has this PATH: without one, the C library searches /bin and /usr/bin only, and a bwrap that was
 * detected elsewhere is not found.
 */
export const LAUNCHER_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The id of the user that owns no files. */
export const UNPRIVILEGED_ID = 65_534;
const id = String(UNPRIVILEGED_ID);

/** Files that the dynamic linker, the font and the codec loaders read; none is secret. */
const SYSTEM = [
  ...["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"],
  ...["/etc/fonts", "/usr/share/fonts", "/usr/share/fontconfig", "/etc/alpine-release"],
];
/** Files that the resolution of host names reads. */
const NAMES = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf"];

/** Returns the command that starts `argv`, whose first element is the path of Node, in isolation. */
export function confine(argv: readonly string[], view: View, isolation: Isolation): string[] {
  if (isolation.kind === "namespaces") return inNamespaces(argv, view, isolation.disableUserns);
  if (isolation.kind === "user") return asUser(argv, isolation.unshare && !view.network);
  return [...argv];
}

function inNamespaces(
  argv: readonly string[],
  { read, write, cwd, network }: View,
  disableUserns: boolean,
): string[] {
  const [node = ""] = argv;
  const readable = [...SYSTEM, ...(network ? NAMES : []), node, ...read];
  return [
    "bwrap",
    ...["--unshare-all", ...(network ? ["--share-net"] : [])],
    ...["--unshare-user", "--uid", id, "--gid", id, ...(disableUserns ? ["--disable-userns"] : [])],
    ...["--cap-drop", "ALL", "--die-with-parent", "--proc", "/proc", "--dev", "/dev"],
    // Read-only binds come last: inputs lie inside of the writable folder and must stay read-only.
    ...write.flatMap((path) => ["--bind", path, path]),
    ...readable
      .filter((path) => !write.includes(path))
      .flatMap((path) => ["--ro-bind-try", path, path]),
    // The kernel's settings in /proc/sys belong to the host's root, also in a namespace that root made.
    ...["--remount-ro", "/proc", "--remount-ro", "/", "--chdir", cwd, "--"],
    ...argv,
  ];
}

function asUser(argv: readonly string[], unshare: boolean): string[] {
  const alone = ["--net", "--pid", "--ipc", "--mount-proc", "--fork", "--kill-child=KILL"];
  return [
    ...(unshare ? ["unshare", ...alone, "--"] : []),
    ...["setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--no-new-privs"],
    ...["--inh-caps=-all", "--bounding-set=-all", "--pdeathsig", "KILL", "--"],
    ...argv,
  ];
}

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

/**
 * Detects how far this host can separate a child process from the server. `node --permission` confines
 * JavaScript alone: native code in the child that an attacker takes over has all rights of the server's
 * user and can read the server's secrets in `/proc/<pid>/environ`. Only the kernel can prevent that.
 */
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
