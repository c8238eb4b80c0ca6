import { readFile } from "node:fs/promises";

/**
 * Kills a child that was spawned `detached`, with all that it has started: also a helper of the
 * isolation whose parent died before it could tie itself to it. Such a helper would keep the child's
 * channel open for ever.
 * @param leader the id of the child; undefined when it did not start.
 */
export function killGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, "SIGKILL");
  } catch {
    // The group has ended already.
  }
}

const PAGE_BYTES = 4096;

/**
 * Returns the resident memory of a process and all its descendants, in bytes: a confined program
 * runs as a grandchild of the spawned process. 0 without `/proc`.
 */
export async function residentBytes(pid: number | string | undefined): Promise<number> {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "");
  const [statm, children] = await Promise.all([read("statm"), read(`task/${pid}/children`)]);
  const own = Number(statm.split(" ")[1] ?? 0) * PAGE_BYTES;
  const others = await Promise.all(children.split(" ").filter(Boolean).map(residentBytes));
  return others.reduce((sum, bytes) => sum + bytes, own);
}
