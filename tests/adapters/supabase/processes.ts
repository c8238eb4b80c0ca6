import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

type Process = { pid: number; parent: number; ended: boolean };

/** Every process of this machine; `ps` is not there on the smallest images, `/proc` not on macOS. */
function listProcesses(): Process[] {
  if (!existsSync("/proc/self/stat")) {
    const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat="], { encoding: "utf8" });
    return lines.split("\n").map((line) => {
      const [pid, parent, state = ""] = line.trim().split(/\s+/);
      return { pid: Number(pid), parent: Number(parent), ended: state.startsWith("Z") };
    });
  }
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return [{ pid: Number(name), parent: Number(parent), ended: state === "Z" }];
      } catch {
        // It ended while we looked.
        return [];
      }
    });
}

/** `root` and everything it started, directly or not. */
export function familyOf(root: number): number[] {
  const processes = listProcesses();
  const family = [root];
  for (const member of family) {
    for (const { pid, parent } of processes) {
      if (parent === member && !family.includes(pid)) family.push(pid);
    }
  }
  return family;
}

/** Selects the running processes among `pids`; one that only waits to be counted by its parent has ended. */
export function stillRunning(pids: readonly number[]): number[] {
  return listProcesses()
    .filter(({ pid, ended }) => !ended && pids.includes(pid))
    .map(({ pid }) => pid);
}
