/** Packages that npm installs into a temporary folder, for soak tests with programs of others. */
import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export const run = promisify(execFile);
export const MAX_OUTPUT_BYTES = 64 * 1024 ** 2;

/** Returns the folder. Installers get the environment, which may hold settings of a registry. */
export async function installPackages(dependencies: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), "packages-"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ dependencies }));
  const npm = process.env.npm_execpath;
  const [command, ...first] = npm ? [process.execPath, npm] : ["npm"];
  const flags = ["--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund"];
  await run(command ?? "npm", [...first, "install", ...flags], {
    cwd: folder,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  return folder;
}
