/**
 * Program: runs an npm script after `launch.mjs` has installed the packages: `run.ts <script>
 * [arguments]`.
 */
import { createBackup } from "./backup/create-backup.ts";
import { restoreBackup } from "./backup/restore-backup.ts";
import { build } from "./ensure-build.ts";
import { importCatalog } from "./import-catalog.ts";
import { makeKey } from "./make-key.ts";
import { bench, benchPeers } from "./run-bench.ts";
import { check } from "./run-check.ts";
import { test } from "./run-tests.ts";
import { serve } from "./serve.ts";

const [script = "", ...args] = process.argv.slice(2);
const distDir = process.env.NEXT_DIST_DIR || ".next";

const scripts: Record<string, () => Promise<number>> = {
  dev: () => serve("dev", distDir),
  start: () => serve("start", distDir),
  build: () => build(distDir).then(() => 0),
  test: () => test(distDir, "tests", args),
  soak: () => test(distDir, "soak", args),
  bench: () => bench(distDir, args),
  "bench:peers": () => benchPeers(distDir, args),
  key: () => makeKey(args),
  backup: () => createBackup(args),
  restore: () => restoreBackup(args),
  "catalog:import": () => importCatalog(args),
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
  process.exit(await run());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
