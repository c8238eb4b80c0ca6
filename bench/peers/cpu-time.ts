/** CPU time and memory of the processes that the bench's parent has started, except the bench: the servers. */
import { readdirSync, readFileSync } from "node:fs";

const TICK_MS = 10;

/**
 * Returns milliseconds of CPU time so far; undefined without `/proc`.
 * @param others processes that do not count, nor do their descendants
 */
export function serversCpuMs(others: readonly number[]): number | undefined {
  const processes = readProcesses();
  if (processes.size === 0) return undefined;
  const isOurs = (pid: number): boolean =>
    pid === process.ppid ||
    (pid > 1 && !others.includes(pid) && isOurs(processes.get(pid)?.parent ?? 0));
  let ticks = 0;
  for (const [pid, found] of processes) {
    if (pid !== process.pid && pid !== process.ppid && isOurs(pid)) ticks += found.ticks;
  }
  return ticks * TICK_MS;
}

/**
 * Returns milliseconds of CPU time of a process, or of all processes of this name.
 * @throws Error without `/proc`
 */
export function processesCpuMs(which: number | string): number {
  let ticks = 0;
  for (const [pid, found] of readProcesses()) {
    if (pid === which || found.name === which) ticks += found.ticks;
  }
  return ticks * TICK_MS;
}

/** Returns the bytes of memory that a process has in use. */
export function residentBytes(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

function readProcesses(): Map<number, { name: string; parent: number; ticks: number }> {
  const found = new Map<number, { name: string; parent: number; ticks: number }>();
  let entries: string[] = [];
  try {
    entries = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {}
  for (const pid of entries) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      // After the program's name, which may hold blanks: state, parent, …, user and system time of
      // this process and of its children that have ended.
      const fields = stat
        .slice(stat.lastIndexOf(")") + 2)
        .split(" ")
        .map(Number);
      const ticks = fields.slice(11, 15).reduce((sum, value) => sum + value, 0);
      const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
      found.set(Number(pid), { name, parent: fields[1] ?? 0, ticks });
    } catch {
      // It has just ended.
    }
  }
  return found;
}
