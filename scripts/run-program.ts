import { spawn } from "node:child_process";
import { projectRoot } from "./start-parts.ts";

/**
 * Runs a JavaScript program on this Node, in the project's folder, with our terminal.
 *
 * @param wanted the whole environment, ours when omitted
 * @returns its exit code; 1 when a signal ended it
 */
export function runProgram(args: string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const child = spawn(process.execPath, args, { cwd: projectRoot, stdio: "inherit", env });
  // The terminal's Ctrl-C reaches the child too; a signal to us alone must be passed on.
  const pass = (signal: NodeJS.Signals) => child.kill(signal);
  process.on("SIGTERM", pass);
  process.on("SIGINT", pass);
  process.once("disconnect", () => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => {
      process.off("SIGTERM", pass);
      process.off("SIGINT", pass);
      resolve(code ?? 1);
    });
  });
}
