import { type ChildProcess, spawn } from "node:child_process";

/**
 * Ends `child` when this process is gone, even by kill -9: a shell waits at the end of a pipe that
 * only this process holds open, and passes `signal` on when the pipe closes.
 *
 * @param scope `group` when the child leads its own process group and all of it is to end.
 */
export function guardProcess(
  child: ChildProcess,
  signal: "INT" | "TERM" | "KILL",
  scope: "process" | "group",
): void {
  if (child.pid === undefined) return;
  const target = scope === "group" ? `-${child.pid}` : String(child.pid);
  const script = 'while read -r _; do :; done; kill -s "$1" -- "$2" 2>/dev/null';
  const guard = spawn("/bin/sh", ["-c", script, "guard", signal, target], {
    // A session of its own: a Ctrl-C or a kill of our process group must not take the guard too.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.on("error", () => {});
  guard.stdin.on("error", () => {});
  guard.unref();
  // The pipe alone must not keep this process alive.
  if ("unref" in guard.stdin && typeof guard.stdin.unref === "function") guard.stdin.unref();
  // Once the child has ended its number may be given to a stranger.
  child.once("exit", () => guard.kill("SIGKILL"));
}
