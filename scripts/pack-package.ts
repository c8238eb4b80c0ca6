/** `npm run client` and `npm run world`: build a package of `packages`, and pack it as npm would publish it. */
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectRoot } from "./project-root.ts";

const run = promisify(execFile);
const compiler = join(projectRoot, "node_modules/typescript/bin/tsc");

/** The builds that each package needs before it is compiled, and its compiler configurations. */
const packages = {
  client: {
    prepare: async () => {
      await run(process.execPath, [join(projectRoot, "scripts/generate-api-types.ts")]);
    },
    // The command line needs Node, of which the library must know nothing.
    configs: ["tsconfig.json", "tsconfig.cli.json"],
  },
  "world-postgres": {
    prepare: async (source: string) => {
      const schema = join(projectRoot, "supabase/schemas/99_engine.sql");
      copyFileSync(schema, join(source, "schema.sql"));
    },
    configs: ["tsconfig.json"],
  },
} as const;

/** Resolves to the path of the archive in `target`, by default in the package's own folder. */
export async function packPackage(name: keyof typeof packages, target?: string): Promise<string> {
  const { prepare, configs } = packages[name];
  const source = join(projectRoot, "packages", name);
  const destination = target ?? source;
  rmSync(join(source, "dist"), { recursive: true, force: true });
  mkdirSync(destination, { recursive: true });
  await prepare(source);
  for (const config of configs) {
    await run(process.execPath, [compiler, "-p", config], { cwd: source });
  }
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", destination];
  const { stdout } = await run("npm", args, { cwd: source });
  const [packed]: { filename: string }[] = JSON.parse(stdout);
  if (!packed) throw new Error("npm packed nothing");
  return join(destination, packed.filename);
}
