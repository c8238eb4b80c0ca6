/** The programs that the service runs cut off from itself, as the system shows them. */
import { readdir, readFile } from "node:fs/promises";
import { expect } from "vitest";

/**
 * Returns the process ids of Node programs with these words in their command lines, without their
 * launchers such as `bwrap`, which carry the same words.
 */
export async function listConfined(...words: string[]): Promise<number[]> {
  const found: number[] = [];
  for (const entry of await readdir("/proc")) {
    const line = await readFile(`/proc/${entry}/cmdline`, "utf8").catch(() => "");
    const [first = ""] = line.split("\0");
    const isNode = /(^|\/)node$/.test(first);
    if (isNode && words.every((word) => line.includes(word))) found.push(Number(entry));
  }
  return found;
}

/** Waits for the first of them. */
export async function findConfined(...words: string[]): Promise<number> {
  let found: number[] = [];
  const search = async () => {
    found = await listConfined(...words);
    return found;
  };
  await expect.poll(search, { timeout: 120_000 }).not.toEqual([]);
  return found[0] ?? expect.unreachable();
}

/** The names of a process's environment variables. */
export async function environmentOf(pid: number): Promise<string[]> {
  const entries = (await readFile(`/proc/${pid}/environ`, "utf8")).split("\0");
  return entries.flatMap((entry) => entry.split("=")[0] || []).sort();
}
