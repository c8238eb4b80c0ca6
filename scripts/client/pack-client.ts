/** `npm run client`: builds the package of packages/client, and packs it as npm would publish it. */
import { execFile } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectRoot } from "../project-root.ts";

const run = promisify(execFile);
const source = join(projectRoot, "packages/client");
const compiler = join(projectRoot, "node_modules/typescript/bin/tsc");

/** Resolves to the path of the archive in `target`. */
export async function packClient(target: string): Promise<string> {
  rmSync(join(source, "dist"), { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  await run(process.execPath, [join(projectRoot, "scripts/generate-api-types.ts")]);
  // The command line needs Node, of which the library must know nothing.
  for (const config of ["tsconfig.json", "tsconfig.cli.json"]) {
    await run(process.execPath, [compiler, "-p", config], { cwd: source });
  }
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", target];
  const { stdout } = await run("npm", args, { cwd: source });
  const [packed]: { filename: string }[] = JSON.parse(stdout);
  if (!packed) throw new Error("npm packed nothing");
  return join(target, packed.filename);
}
