/**
 * `npm run package`: writes a folder that runs the service on a machine of the same platform without this
 * repository and without npm. It holds the build, Node, the migrations, and of the sources and packages
 * only the files that are traced from its programs.
 */
import { cpSync, existsSync, globSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ensureFreshBuild } from "../ensure-build.ts";
import { projectRoot } from "../project-root.ts";
import { commandNames } from "./command-names.ts";
import { tracePrograms } from "./trace-programs.ts";

/** Files that are loaded by a path that no tracer can see. */
const UNTRACED = [
  ...globSync("supabase/{schemas,migrations,upgrade.sql}", { cwd: projectRoot }),
  "supabase/seed.sql",
  "supabase/templates",
  "scripts/embedded/bootstrap.sql",
  "lib/workspace/example",
  "packages/kit/src/isolation",
  "packages/skills/built-in",
  "node_modules/@node-webcodecs",
  "node_modules/just-bash/vendor/cpython-emscripten",
  "node_modules/sql.js/dist/sql-wasm.wasm",
  "node_modules/@expo-google-fonts/anton/package.json",
  "node_modules/@expo-google-fonts/anton/400Regular",
  "LICENSE",
  "THIRD_PARTY_NOTICES.md",
];
const LICENSES = "node_modules/{*,@*/*}/{LICENSE,LICENCE,COPYING,NOTICE,THIRD_PARTY_NOTICES}*";

/** @param target the folder, which is replaced */
export async function buildPackage(distDir: string, target: string): Promise<void> {
  await ensureFreshBuild(distDir);
  rmSync(target, { recursive: true, force: true });
  const copy = (from: string, to: string) =>
    cpSync(join(projectRoot, from), join(target, to), { recursive: true, verbatimSymlinks: true });

  const standalone = join(distDir, "standalone");
  copy(join(standalone, distDir), ".next");
  copy(join(standalone, "node_modules"), "node_modules");
  copy(join(standalone, "package.json"), "package.json");
  for (const folder of ["static", "programs"]) copy(join(distDir, folder), join(".next", folder));
  for (const file of [...(await tracePrograms()), ...UNTRACED]) copy(file, file);
  for (const file of globSync(LICENSES, { cwd: projectRoot })) {
    if (existsSync(join(target, dirname(file)))) copy(file, file);
  }
  copy("node_modules/node/bin/node", "bin/node");
  for (const name of commandNames) {
    writeFileSync(join(target, "bin", name), launcherOf(name), { mode: 0o755 });
  }
}

const launcherOf = (command: string): string => `#!/bin/sh
bin=$(dirname "$(readlink -f "$0")")
exec "$bin/node" --disable-warning=ExperimentalWarning "$bin/../scripts/package/main.ts" ${command} "$@"
`;
