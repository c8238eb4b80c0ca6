/** Checks this machine: its address, a writable folder with space, and isolation. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { access, constants, mkdir, rm, statfs, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { App } from "../../app.ts";
import type { Config } from "../../platform/config.ts";
import { isolation } from "../../platform/isolation/detect.ts";
import { codeOf } from "../../platform/outbound/probe.ts";
import { runtimePath } from "../../platform/runtime-path.ts";
import { type Finding, misconfigured, ok, warning } from "./finding.ts";

const MIB = 1024 ** 2;
const LOW_DISK_BYTES = 1024 * MIB;

export async function checkHost(settings: Config, services: App): Promise<Finding[]> {
  return [
    ...(await checkAddress(settings)),
    ...(await checkFolder(settings, services)),
    checkIsolation(),
  ];
}

/** Listens on a free port of the address for a moment. */
async function checkAddress({ HOST }: Config): Promise<Finding[]> {
  const server = createServer();
  try {
    // Not through the parent of several processes, which would mistake it for the service.
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
  { sandboxes, mail, media, engine }: App,
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
