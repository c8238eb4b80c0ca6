/** A data directory that cannot be used says why, and is not taken for one in use. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DataDirUnusable } from "../../../scripts/data-dir.ts";
import { lockDataDir } from "../../../scripts/embedded/lock-data-dir.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "data-dir-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** Whether a disk of a few kilobytes can be mounted, as root or in namespaces. */
const canMount =
  spawnSync("unshare", ["-Urm", "sh", "-c", "mount -t tmpfs -o size=16k disk /mnt"]).status === 0;

const program = `
  const { lockDataDir } = await import(${JSON.stringify(join(import.meta.dirname, "../../../scripts/embedded/lock-data-dir.ts"))});
  try {
    (await lockDataDir(process.argv[1])).release();
    console.log("locked");
  } catch (error) {
    console.log(error.constructor.name, error.message);
  }`;

/** Locks the folder where it is a disk of 64 KB, of which `bytes` are taken. */
function lockOnDisk(bytes: number): string {
  const script = `
    mount -t tmpfs -o size=64k disk "$1"
    head -c ${bytes} /dev/zero > "$1/other"
    "$2" --input-type=module -e "$3" "$1"`;
  const args = ["-Urm", "sh", "-c", script, "sh", dataDir, process.execPath, program];
  return execFileSync("unshare", args, { encoding: "utf8" });
}

test.skipIf(!canMount)("on a full disk asks for space", () => {
  for (const bytes of [65_536, 61_440]) {
    const told = lockOnDisk(bytes);
    expect(told).toMatch(/^DataDirUnusable DATA_DIR is .* full .*: free some space/);
    expect(told).not.toContain("Another process");
  }
});

test("with a lock that cannot be opened is not taken for one in use", async () => {
  mkdirSync(join(dataDir, "lock"));
  await expect(lockDataDir(dataDir)).rejects.toThrow(DataDirUnusable);
});

test("with a pid file that cannot be written gives the lock back", async () => {
  mkdirSync(join(dataDir, "lock.pid"));
  await expect(lockDataDir(dataDir)).rejects.toThrow(DataDirUnusable);
  rmSync(join(dataDir, "lock.pid"), { recursive: true });
  (await lockDataDir(dataDir)).release();
});
