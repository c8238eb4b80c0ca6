/** A migrated, empty database as files: copying them takes a tenth of the time of creating them. */
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbedded } from "../../../scripts/embedded/start-embedded.ts";

/** Creates the data directory that the others are copies of. */
export async function createTemplate(): Promise<string> {
  const template = mkdtempSync(join(tmpdir(), "agent-platform-template-"));
  await (await startEmbedded({ dataDir: template })).stop();
  return template;
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
