import { type ChildProcess, spawn } from "node:child_process";

/**
 * Ends `child` when this process exits, even by kill -9: a shell reads a pipe that only this process
 * holds open, and sends `signal` when the pipe closes.
 *
 * @param scope `group` to signal the whole process group that the child leads
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
    // Its own session: Ctrl-C or a signal to our process group must not end the guard too.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.on("error", () => {});
  guard.stdin.on("error", () => {});
  guard.unref();
  // The pipe must not keep this process alive.
  if ("unref" in guard.stdin && typeof guard.stdin.unref === "function") guard.stdin.unref();
  // After the child has exited, another process may get its pid.
  child.once("exit", () => guard.kill("SIGKILL"));
}
