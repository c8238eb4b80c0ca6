import type { ChildProcess } from "node:child_process";

/** Resolves to the exit code or the signal, or to the reason why the child could not be started. */
export function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(String(code ?? signal)));
  });
}
