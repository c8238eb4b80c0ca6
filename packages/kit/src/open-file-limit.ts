import { readFileSync } from "node:fs";

/** Returns how many files and connections a process may have open; infinity without a known limit. */
export function openFileLimit(pid: number | "self" = "self"): number {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, "utf8");
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
