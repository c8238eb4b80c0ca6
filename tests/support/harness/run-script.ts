/** Runs an npm script as `launch.mjs` would, without its check of the installed packages. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

export interface ScriptOutcome {
  readonly code: number | null;
  /** Standard output, then standard error. */
  readonly output: string;
}

/** @param kill ends the script by SIGKILL when it aborts; its exit code is then null. */
export async function runScript(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  kill?: AbortSignal,
): Promise<ScriptOutcome> {
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", "scripts/run.ts", ...args],
    {
      env: { NODE_ENV: "production", PATH: process.env.PATH, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  kill?.addEventListener("abort", () => child.kill("SIGKILL"));
  const code = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, output: out + errors };
}
