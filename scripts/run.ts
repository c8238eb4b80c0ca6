/**
 * Program: runs an npm script after `launch.mjs` has installed the packages: `run.ts <script>
 * [arguments]`.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createBackup } from "./backup/create-backup.ts";
import { restoreBackup } from "./backup/restore-backup.ts";
import { importCatalog } from "./catalog/import-catalog.ts";
import { reportGiven } from "./check-given.ts";
import { listMigrations } from "./embedded/list-migrations.ts";
import { build, ensureBuild } from "./ensure-build.ts";
import { makeKey } from "./make-key.ts";
import { projectRoot } from "./project-root.ts";
import { reachEmbedded } from "./reach-database.ts";
import { bench, benchPeers } from "./run-bench.ts";
import { check } from "./run-check.ts";
import { test } from "./run-tests.ts";
import { serveDevelopment } from "./serve-development.ts";
import { serveProduction } from "./serve-production.ts";
import { startParts } from "./start-parts.ts";
import { trustNetwork } from "./trust-network.ts";

const [script = "", ...args] = process.argv.slice(2);
const distDir = process.env.NEXT_DIST_DIR || ".next";
/** The scripts that reach other services. */
const IN_NETWORK = ["catalog:import", "dev", "doctor", "key", "start"];
const KEY_COMMAND = "npm run key --";

const scripts: Record<string, () => Promise<number>> = {
  dev: async () => (reportGiven() ? serveDevelopment(KEY_COMMAND) : 1),
  start,
  build: () => build(distDir).then(() => 0),
  package: buildDist,
  client: () => packHere("client"),
  world: () => packHere("world-postgres"),
  test: () => test(distDir, "tests", args),
  "test:quick": () => test(distDir, "quick", args),
  soak: () => test(distDir, "soak", args),
  bench: () => bench(distDir, args),
  "bench:peers": () => benchPeers(distDir, args),
  screenshot: drawScreenshot,
  backup: () => createBackup(args),
  restore: () => restoreBackup(args),
  doctor: runDoctor,
  key: () => makeKey(args, { name: KEY_COMMAND, reachDatabase: reachEmbedded }),
  "catalog:import": () =>
    importCatalog(args, { name: "npm run catalog:import", reachDatabase: reachEmbedded }),
  baseline: async () => writeBaseline(),
  check,
};

const run = scripts[script];
if (run === undefined) {
  console.error(
    `Unknown script "${script}". Available scripts: ${Object.keys(scripts).join(", ")}.`,
  );
  process.exit(2);
}
try {
  if (IN_NETWORK.includes(script)) trustNetwork();
  process.exit(await run());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

async function start(): Promise<number> {
  if (!reportGiven()) return 1;
  await ensureBuild(distDir);
  return serveProduction({ distDir, startParts, keyCommand: KEY_COMMAND });
}

/** Writes the baseline where the Supabase CLI reads migrations. */
function writeBaseline(): number {
  const supabase = join(projectRoot, "supabase");
  const [baseline] = listMigrations(supabase);
  if (baseline === undefined) throw new Error("supabase/schemas is missing.");
  mkdirSync(join(supabase, "migrations"), { recursive: true });
  const file = join("supabase", "migrations", baseline.file);
  writeFileSync(join(projectRoot, file), baseline.text());
  console.log(`${file} is written: \`supabase db push\` applies it to a project without tables.`);
  return 0;
}

async function buildDist(): Promise<number> {
  // It needs a development package, and a production server runs without those.
  const { buildPackage } = await import("./package/build-package.ts");
  await buildPackage(distDir, join(projectRoot, "dist"));
  console.log("The package is in dist: copy it to where it is to run, and start bin/server there.");
  return 0;
}

async function packHere(name: "client" | "world-postgres"): Promise<number> {
  const { packPackage } = await import("./pack-package.ts");
  console.log(await packPackage(name));
  return 0;
}

async function drawScreenshot(): Promise<number> {
  const { takeScreenshot } = await import("./take-screenshot.ts");
  return takeScreenshot(distDir);
}

/** Loads the adapters of all services, for which the other scripts must not wait. */
async function runDoctor(): Promise<number> {
  const { doctor } = await import("./doctor.ts");
  const { repositoryInstallation } = await import("./doctor-embedded.ts");
  return doctor(args, repositoryInstallation);
}
