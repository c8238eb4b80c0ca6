import { readFile } from "node:fs/promises";

const PAGE_BYTES = 4096;

/**
 * Returns the resident memory of a process and of all it started, in bytes: a confined program runs as a
 * grandchild of the spawned process. 0 where there is no `/proc`.
 */
export async function residentBytes(pid: number | string | undefined): Promise<number> {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "");
  const [statm, children] = await Promise.all([read("statm"), read(`task/${pid}/children`)]);
  const own = Number(statm.split(" ")[1] ?? 0) * PAGE_BYTES;
  const others = await Promise.all(children.split(" ").filter(Boolean).map(residentBytes));
  return others.reduce((sum, bytes) => sum + bytes, own);
}
