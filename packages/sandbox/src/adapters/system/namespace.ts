/**
 * The command line that starts a program in separate namespaces. It sees the system's programs read-only,
 * the session's two folders, and nothing else of this machine.
 */
import { existsSync, realpathSync } from "node:fs";
import { join, sep } from "node:path";
import { LAUNCHER_PATH } from "@platform/kit/isolation/isolation";
import { runtimePath } from "@platform/kit/runtime-path";

export const HOME = "/home/agent";

/** The user that commands run as. On the machine they have the rights of the server's user. */
const USER_ID = "1000";

/** The programs of the system, and the libraries that they load. */
const PROGRAMS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/** Files that programs read there. The rest of /etc may hold secrets. */
const CONFIGURATION = [
  ...["alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "nsswitch.conf"],
  ...["protocols", "services", "mime.types", "magic", "fonts", "ImageMagick-6", "ImageMagick-7"],
  ...["ca-certificates", "ssl/certs", "ssl/openssl.cnf", "pki/tls/certs", "pki/ca-trust"],
].map((name) => `/etc/${name}`);

/** The folder in the namespace for the sandbox's own files. */
const OWN = "/run/agent";

/** The path of this service's Node.js there. */
export const NODE = `${OWN}/bin/node`;
const node = ["--ro-bind", process.execPath, NODE];

/** The mounts for every command of a server. */
export interface Machine {
  /** Holds `passwd`, `group` and `hosts`. */
  readonly etc: string;
  /** Folders of the server, which are hidden if they are inside of a folder of programs. */
  readonly hidden: readonly string[];
  readonly disableUserns: boolean;
}

export interface Place {
  /** The session's folder, with `home` and `tmp`. */
  readonly dir: string;
  /** The path of the proxy's socket. */
  readonly socket: string;
}

/** The port on the loopback address of the namespace where the proxy answers. */
const PROXY_PORT = "3128";
const proxyUrl = `http://127.0.0.1:${PROXY_PORT}`;

/** The environment of every command. */
export const environment: Readonly<Record<string, string>> = {
  HOME,
  USER: "agent",
  LOGNAME: "agent",
  SHELL: "/bin/bash",
  // The last has this service's Node.js, for machines that have none.
  PATH: `${LAUNCHER_PATH}:${OWN}/bin`,
  LANG: "C.UTF-8",
  TMPDIR: "/tmp",
  http_proxy: proxyUrl,
  https_proxy: proxyUrl,
  HTTP_PROXY: proxyUrl,
  HTTPS_PROXY: proxyUrl,
  NODE_USE_ENV_PROXY: "1",
};

/** Returns the command that runs a shell with these arguments, behind `enter.mjs`. */
export function shellCommand(machine: Machine, place: Place, argv: readonly string[]): string[] {
  const socket = `${OWN}/proxy`;
  const enter = `${OWN}/enter.mjs`;
  const code = runtimePath(
    realpathSync(process.cwd()),
    "packages",
    "sandbox",
    "src",
    "adapters",
    "system",
  );
  return [
    ...inNamespaces(machine, [
      ...["--bind", join(place.dir, "home"), HOME],
      // Shared memory counts as a file, too.
      ...["tmp", "dev/shm"].flatMap((name) => ["--bind", join(place.dir, "tmp"), `/${name}`]),
      ...node,
      ...["--ro-bind", runtimePath(code, "enter.mjs"), enter],
      ...["--ro-bind", place.socket, socket],
      ...["--chdir", HOME],
    ]),
    ...[NODE, enter, PROXY_PORT, socket, ...argv],
  ];
}

/** Returns the command that runs a program which finds one folder, where it starts, and Node.js. */
export function folderCommand(machine: Machine, folder: string, argv: readonly string[]): string[] {
  const mounts = ["--bind", folder, "/folder", "--chdir", "/folder"];
  return [...inNamespaces(machine, [...node, ...mounts]), ...argv];
}

function inNamespaces(machine: Machine, mounts: readonly string[]): string[] {
  return [
    "bwrap",
    ...["--unshare-all", "--unshare-user", "--uid", USER_ID, "--gid", USER_ID],
    ...(machine.disableUserns ? ["--disable-userns"] : []),
    ...["--cap-drop", "ALL", "--die-with-parent", "--hostname", "sandbox"],
    ...[...PROGRAMS, ...CONFIGURATION].flatMap((path) => ["--ro-bind-try", path, path]),
    ...machine.hidden.filter(isAmongPrograms).flatMap((path) => ["--tmpfs", path]),
    ...["passwd", "group", "hosts"].flatMap((name) => [
      ...["--ro-bind", join(machine.etc, name), `/etc/${name}`],
    ]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...mounts,
    ...["/proc", "/dev", "/"].flatMap((path) => ["--remount-ro", path]),
    "--",
  ];
}

const isAmongPrograms = (path: string): boolean =>
  existsSync(path) && PROGRAMS.some((folder) => `${path}${sep}`.startsWith(`${folder}${sep}`));
