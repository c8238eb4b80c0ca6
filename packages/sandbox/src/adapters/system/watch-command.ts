/** Watches one command's use of this machine in the system sandbox. */
import type { StatsFs } from "node:fs";
import { readdir, readFile, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "@platform/kit/outbound/probe";
import type { Measured } from "../local/measure-folder.ts";

/** `traced`: a process of the command stopped or steers the one that ends its namespaces. */
export type Excess = "memory" | "processes" | "disk" | "traced" | "hidden";

export interface Limits {
  /** The resident memory of all processes together. */
  readonly maxBytes: number;
  readonly maxProcesses: number;
}

const INTERVAL_MS = 200;
const PAGE_BYTES = 4096;
const BLOCK_BYTES = 512;
/** The limit for the descriptors of all threads together, which bounds the time to look at them. */
const MAX_DESCRIPTORS = 50_000;

/**
 * Watches one command's use of the machine. The kernel limits a single process (`ulimit`); the total of
 * all its processes is measured here, a few times a second.
 * @param bwrap the process id of the command's bubblewrap
 * @param dir the session's folder
 * @param isOverQuota measures the folder; called when its file system has lost room
 * @param onExcess called at most once
 * @returns a function that ends the watch
 */
export function watch(
  bwrap: number,
  { dir, limits }: { readonly dir: string; readonly limits: Limits },
  isOverQuota: (unlinked: Measured) => Promise<boolean>,
  onExcess: (excess: Excess) => void,
): () => void {
  let isOver = false;
  let room: StatsFs | undefined;
  const look = async (): Promise<Excess | undefined> => {
    const init = await firstChild(bwrap);
    const program = await firstChild(init);
    if ((await isTraced(init)) || (await isTraced(program))) return "traced";
    const used = await measureProcesses(program);
    // First, because each process also takes some memory.
    if (used.processes > limits.maxProcesses) return "processes";
    if (used.bytes > limits.maxBytes) return "memory";
    const before = room;
    room = await statfs(dir);
    const hasShrunk = !before || room.bfree < before.bfree || room.ffree < before.ffree;
    if (!hasShrunk) return undefined;
    const unlinked = await measureUnlinked(program);
    if (unlinked === null) return "hidden";
    return (await isOverQuota(unlinked)) ? "disk" : undefined;
  };
  const next = () => {
    timer = setTimeout(async () => {
      // A folder or process that is gone has no excess.
      const excess = await look().catch(() => undefined);
      if (isOver) return;
      if (excess === undefined) return next();
      onExcess(excess);
    }, INTERVAL_MS);
  };
  let timer: NodeJS.Timeout;
  next();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

async function isTraced(pid: string): Promise<boolean> {
  return !/^TracerPid:\t0$/m.test(await readFile(`/proc/${pid}/status`, "utf8"));
}

/**
 * Measures the processes of the namespace by its own /proc, which lists all of them, regardless of their
 * parent.
 * @param program a process of the namespace
 */
async function measureProcesses(program: string): Promise<{ bytes: number; processes: number }> {
  const proc = `/proc/${program}/root/proc`;
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name));
  const sizes = await Promise.all(
    pids.map(async (pid) => {
      const statm = await readFile(join(proc, pid, "statm"), "utf8").catch(() => "");
      return Number(statm.split(" ")[1] ?? 0) * PAGE_BYTES;
    }),
  );
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), processes: pids.length };
}

/**
 * Measures the unlinked files that processes of the namespace hold open. Each thread can have
 * separate descriptors.
 *
 * @returns null when a process hides its descriptors, or has too many
 */
async function measureUnlinked(program: string): Promise<Measured | null> {
  const proc = `/proc/${program}/root/proc`;
  const found = new Map<string, number>();
  let descriptors = 0;
  for (const pid of (await readdir(proc)).filter((name) => /^\d+$/.test(name))) {
    for (const thread of await entriesIn(join(proc, pid, "task"))) {
      const task = join(proc, pid, "task", thread);
      const open = await entriesIn(join(task, "fd")).catch(() => null);
      if (open === null && !(await hasEnded(task))) return null;
      descriptors += open?.length ?? 0;
      if (descriptors > MAX_DESCRIPTORS) return null;
      const files = await Promise.all(
        (open ?? []).map((fd) => stat(join(task, "fd", fd)).catch(() => null)),
      );
      for (const file of files) {
        if (!file?.isFile() || file.nlink > 0) continue;
        found.set(`${file.dev} ${file.ino}`, file.blocks * BLOCK_BYTES);
      }
    }
  }
  return { bytes: [...found.values()].reduce((sum, size) => sum + size, 0), files: found.size };
}

/** Returns the names in a folder of /proc; none when its process has ended. */
const entriesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: unknown) => {
    if (["ENOENT", "ESRCH"].includes(codeOf(error) ?? "")) return [];
    throw error;
  });

/** Returns whether a thread has ended. It has no descriptors then, but only root may see that. */
async function hasEnded(task: string): Promise<boolean> {
  const status = await readFile(join(task, "status"), "utf8").catch(() => "State:\tX");
  return /^State:\t[ZX]/m.test(status);
}

async function firstChild(pid: number | string): Promise<string> {
  const [child] = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).split(" ");
  if (!child) throw new Error("no child");
  return child;
}
