/** Builds the command line that starts a program isolated from the server, as far as the host allows. */
import type { Isolation } from "./isolation.ts";

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
