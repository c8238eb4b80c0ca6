import { spawn } from "node:child_process";
import { projectRoot } from "./project-root.ts";

/**
 * Runs a JavaScript program with this Node in the project's folder, attached to our terminal.
 *
 * @param env the whole environment. Default: ours
 * @returns the exit code; 1 when a signal ended the program
 */
export function runProgram(args: string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const child = spawn(process.execPath, args, { cwd: projectRoot, stdio: "inherit", env });
  // The terminal sends Ctrl-C to the child too, but a signal to this process must be forwarded.
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  process.on("SIGTERM", forward);
  process.on("SIGINT", forward);
  process.once("disconnect", () => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => {
      process.off("SIGTERM", forward);
      process.off("SIGINT", forward);
      resolve(code ?? 1);
    });
  });
}
