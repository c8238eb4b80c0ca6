/**
 * Program: runs a command of the self-contained package in any folder: `main.ts <command>
 * [arguments]`. The scripts in the package's `bin` start it.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { backUpOwn, restoreOwn } from "../backup/own-database.ts";
import { importCatalog } from "../catalog/import-catalog.ts";
import { dataDirOf } from "../data-dir.ts";
import { lockDataDir } from "../embedded/lock-data-dir.ts";
import { makeKey } from "../make-key.ts";
import { projectRoot } from "../project-root.ts";
import { serveProduction } from "../serve-production.ts";
import { trustNetwork } from "../trust-network.ts";
import type { CommandName } from "./command-names.ts";
import { directUrl, migrate } from "./database.ts";
import { startPackagedParts } from "./parts.ts";

const [name, ...args] = process.argv.slice(2);
// Settings may also be in a file of the folder that the command was started in.
if (existsSync(".env")) process.loadEnvFile(".env");
/** Data is in the folder that the command was started in, not in the package. */
process.env.DATA_DIR = resolve(process.env.DATA_DIR || ".data");

const SIGTERM_EXIT = 143;
const reachDatabase = async () => ({ url: directUrl(process.env), stop: async () => {} });

const commands: Record<CommandName, () => Promise<number>> = {
  server,
  migrate: () => migrate(process.env),
  key: () => makeKey(args, { name: "bin/key", reachDatabase }),
  "catalog-import": () => importCatalog(args, { name: "bin/catalog-import", reachDatabase }),
  doctor: runDoctor,
  backup: () => backUpOwn(args),
  restore: () => restoreOwn(args),
};

async function server(): Promise<number> {
  const [option] = args;
  if (args.length > 1 || (option !== undefined && option !== "--migrate")) {
    console.error("Usage: bin/server [--migrate]");
    return 2;
  }
  // Two servers with separate databases would delete each other's sandboxes and media. Servers of one
  // Supabase project may share the folder.
  const lock = process.env.SUPABASE_URL ? null : await lockDataDir(dataDirOf(process.env));
  try {
    const code = await serveProduction({
      distDir: ".next",
      startParts: startPackagedParts({ migrates: option === "--migrate", waits: true }),
      keyCommand: "bin/key",
    });
    // A service manager treats any other code as a failure.
    return code === SIGTERM_EXIT ? 0 : code;
  } finally {
    lock?.release();
  }
}

/** Loads the adapters of all services, for which the other commands must not wait. */
async function runDoctor(): Promise<number> {
  // As the server processes, which find the programs that they start there.
  process.chdir(projectRoot);
  const { doctor } = await import("../doctor.ts");
  const { packagedInstallation } = await import("./doctor-package.ts");
  return doctor(args, packagedInstallation);
}

try {
  trustNetwork();
  process.exit(await commands[name as CommandName]());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
