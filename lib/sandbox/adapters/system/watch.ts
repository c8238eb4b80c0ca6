/**
 * Watches one command's use of the machine. The kernel limits a single process (`ulimit`); the total of
 * all its processes is measured here, a few times a second.
 */
import { readFileSync } from "node:fs";
import { readdir, readFile, statfs } from "node:fs/promises";
import { join } from "node:path";

/** `traced`: a process of the command stopped or steers the one that ends its namespaces. */
export type Excess = "memory" | "processes" | "disk" | "traced";

export interface Limits {
  /** The resident memory of all processes together. */
  readonly maxBytes: number;
  readonly maxProcesses: number;
}

const INTERVAL_MS = 200;
const PAGE_BYTES = 4096;

/**
 * @param bwrap the process id of the command's bubblewrap
 * @param dir the session's folder
 * @param isOverQuota measures the folder; called when its file system has lost room
 * @param onExcess called at most once
 * @returns a function that ends the watch
 */
export function watch(
  bwrap: number,
  { dir, limits }: { readonly dir: string; readonly limits: Limits },
  isOverQuota: () => Promise<boolean>,
  onExcess: (excess: Excess) => void,
): () => void {
  let isOver = false;
  let room: Room | undefined;
  const look = async (): Promise<Excess | undefined> => {
    const init = await firstChild(bwrap);
    const program = await firstChild(init);
    if ((await isTraced(init)) || (await isTraced(program))) return "traced";
    const used = await measureProcesses(program);
    if (used.bytes > limits.maxBytes) return "memory";
    if (used.processes > limits.maxProcesses) return "processes";
    const before = room;
    room = await roomOf(dir);
    const hasShrunk = !before || room.blocks < before.blocks || room.files < before.files;
    return hasShrunk && (await isOverQuota()) ? "disk" : undefined;
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

interface Room {
  readonly blocks: number;
  readonly files: number;
}

async function roomOf(dir: string): Promise<Room> {
  const { bfree, ffree } = await statfs(dir);
  return { blocks: bfree, files: ffree };
}

/**
 * Kills the first process of a command's namespaces, and with it all others, even if it was made to
 * ignore the death of its parent. Without effect once it has ended.
 */
export function killInit(bwrap: number | undefined): void {
  try {
    const children = readFileSync(`/proc/${bwrap}/task/${bwrap}/children`, "utf8");
    for (const pid of children.split(" ").filter(Boolean)) process.kill(Number(pid), "SIGKILL");
  } catch {
    // It has ended, or has not started yet and dies with its parent.
  }
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

async function firstChild(pid: number | string): Promise<string> {
  const [child] = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).split(" ");
  if (!child) throw new Error("no child");
  return child;
}
