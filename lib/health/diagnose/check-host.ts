/** What this machine offers: a writable folder with space, open files, memory and isolation. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { access, constants, mkdir, readFile, rm, statfs, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { totalmem } from "node:os";
import type { Config } from "../../platform/config.ts";
import { isolation } from "../../platform/isolation/detect.ts";
import { codeOf } from "../../platform/outbound/probe.ts";
import { runtimePath } from "../../platform/runtime-path.ts";
import type { Services } from "../../platform/services.ts";
import { type Finding, misconfigured, ok, warning } from "./finding.ts";

const MIB = 1024 ** 2;
const LOW_DISK_BYTES = 1024 * MIB;
/** Each stream of a turn holds one, and each connection to a database or a vendor. */
const LOW_OPEN_FILES = 4_096;
/** What a server process takes under load. */
const PROCESS_BYTES = 300 * MIB;

export async function checkHost(settings: Config, services: Services): Promise<Finding[]> {
  return [
    ...(await checkAddress(settings)),
    ...(await checkFolder(settings, services)),
    checkIsolation(),
    ...(await checkOpenFiles()),
    ...checkMemory(settings),
  ];
}

/** Listens on a free port of the address for a moment. */
async function checkAddress({ HOST }: Config): Promise<Finding[]> {
  const server = createServer();
  try {
    // Not through the parent of several processes, which would take it for the service.
    server.listen({ port: 0, host: HOST, exclusive: true });
    await once(server, "listening");
    return [];
  } catch {
    return [
      misconfigured("address", {
        detail: "HOST is no address of this machine",
        remedy: "Set HOST to an address of this machine, such as 127.0.0.1, or to 0.0.0.0 for all.",
        settings: ["HOST"],
      }),
    ];
  } finally {
    server.close();
  }
}

/** Nothing is written to the folder where all that would be is stored by services. */
async function checkFolder(
  { DATA_DIR, EMBEDDED_SUPABASE }: Config,
  { sandboxes, mail, media, engine }: Services,
): Promise<Finding[]> {
  const isUsed =
    EMBEDDED_SUPABASE ||
    sandboxes.folders !== undefined ||
    mail.name === "mailbox" ||
    media.name === "disk" ||
    engine.name === "workflow:local";
  if (!isUsed) return [];
  const folder = runtimePath(DATA_DIR);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.R_OK | constants.X_OK);
    const probe = runtimePath(folder, `.doctor-${randomUUID()}`);
    await writeFile(probe, "", { flag: "wx" });
    await rm(probe);
  } catch (error) {
    return [
      misconfigured("data", {
        detail: `DATA_DIR cannot be written to (${codeOf(error) ?? "unknown error"})`,
        remedy: "Set DATA_DIR to a folder that the user of the server may write to.",
        settings: ["DATA_DIR"],
      }),
    ];
  }
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const text = `${Math.floor(free / MIB)} MiB free in DATA_DIR`;
  if (free >= LOW_DISK_BYTES) return [ok("data", text)];
  const remedy = "Free disk space, or move DATA_DIR to a larger disk.";
  return [warning("data", { detail: `only ${text}`, remedy, settings: ["DATA_DIR"] })];
}

function checkIsolation(): Finding {
  const found = isolation();
  if (found.kind === "namespaces") {
    return ok("isolation", "media decoders and sandboxes run isolated");
  }
  return warning("isolation", {
    detail:
      found.kind === "user"
        ? "media decoders run as another user, but see the file system"
        : "media decoders run as this server's user and could read its secrets if taken over",
    remedy: `Install or allow what this host lacks: ${found.missing}.`,
  });
}

/** Linux tells; elsewhere there is no finding. */
async function checkOpenFiles(): Promise<Finding[]> {
  const limits = await readFile("/proc/self/limits", "utf8").catch(() => "");
  const limit = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.NaN);
  if (Number.isNaN(limit)) return [];
  if (limit >= LOW_OPEN_FILES) return [ok("open files", `${limit} in each process`)];
  return [
    warning("open files", {
      detail: `a process may open only ${limit} files and connections`,
      remedy: "Raise the limit: `ulimit -n 65536`, or LimitNOFILE= of systemd.",
    }),
  ];
}

function checkMemory({ SERVER_PROCESSES }: Config): Finding[] {
  const bytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const fitting = Math.max(1, Math.floor(bytes / PROCESS_BYTES));
  const text = `${Math.floor(bytes / MIB)} MiB of memory for ${SERVER_PROCESSES} server processes`;
  if (SERVER_PROCESSES <= fitting) return [ok("memory", text)];
  return [
    warning("memory", {
      detail: `${text} may not be enough`,
      remedy: `Set WEB_CONCURRENCY to ${fitting} or less.`,
      settings: ["WEB_CONCURRENCY"],
    }),
  ];
}
