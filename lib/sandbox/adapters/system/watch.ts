/**
 * Watches what one command uses of the machine. Limits of a single process are the kernel's (`ulimit`);
 * what all its processes use together is measured here, a few times a second.
 */
import { readdir, readFile, statfs } from "node:fs/promises";
import { join } from "node:path";

export type Excess = "memory" | "processes" | "disk";

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
 * @returns what ends the watch
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
    const used = await measureProcesses(bwrap);
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
 * Measures the processes of the namespace by its own /proc, which lists all of them, whoever started
 * them.
 */
async function measureProcesses(bwrap: number): Promise<{ bytes: number; processes: number }> {
  const init = await firstChild(bwrap);
  const program = await firstChild(init);
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
