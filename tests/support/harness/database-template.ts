/** A migrated, empty database as files: copying them takes a tenth of the time of creating them. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbedded } from "../../../scripts/embedded/start-embedded.ts";
import { projectRoot } from "../../../scripts/project-root.ts";

const KEPT = join(projectRoot, "node_modules/.cache/databases");
const SOURCES = [
  "supabase/{migrations,schemas}/*",
  "scripts/**/*.{sql,ts}",
  "packages/world-postgres/src/*",
  "package-lock.json",
];
const DAY_MS = 86_400_000;

/** Returns the data directory that the others are copies of. Later runs find it again, until its sources change. */
export async function keptTemplate(): Promise<string> {
  const hash = createHash("sha256");
  for (const file of globSync(SOURCES, { cwd: projectRoot }).sort()) {
    hash.update(`${file}\0`).update(readFileSync(join(projectRoot, file)));
  }
  const kept = join(KEPT, hash.digest("hex"));
  if (existsSync(kept)) return kept;
  mkdirSync(KEPT, { recursive: true });
  for (const name of readdirSync(KEPT)) {
    const old = join(KEPT, name);
    if (Date.now() - statSync(old).mtimeMs > DAY_MS) rmSync(old, { recursive: true, force: true });
  }
  const template = mkdtempSync(join(tmpdir(), "agent-platform-template-"));
  await (await startEmbedded({ dataDir: template })).stop();
  const copied = mkdtempSync(join(KEPT, "new-"));
  copyTemplate(template, copied);
  rmSync(template, { recursive: true, force: true });
  try {
    renameSync(copied, kept);
  } catch {
    // Another run was first.
    rmSync(copied, { recursive: true, force: true });
  }
  return kept;
}

/**
 * Fills a data directory that is empty or does not exist. The copies have the same secrets, and
 * files keep their modification times: files written by a test are newer.
 */
export function copyTemplate(template: string, dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const parts = ["postgres", "secrets.json"].map((name) => join(template, name));
  execFileSync("cp", ["-a", ...parts, dataDir]);
}

/** Linux keeps files there in memory: a database has more than 1,500, and a run of all tests copies it 100 times. */
const MEMORY = "/dev/shm";
const MEMORY_BYTES = 4 * 1024 ** 3;

function hasMemory(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= MEMORY_BYTES;
}

/**
 * Creates a data directory whose PostgreSQL does not wait for the disk. No test cuts the power, and
 * written data survives the death of every process.
 */
export function copyDataDir(template: string): string {
  const dataDir = mkdtempSync(join(hasMemory() ? MEMORY : tmpdir(), "agent-platform-test-"));
  copyTemplate(template, dataDir);
  appendFileSync(join(dataDir, "postgres", "postgresql.auto.conf"), "fsync = off\n");
  return dataDir;
}
