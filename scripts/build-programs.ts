import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import { projectRoot } from "./project-root.ts";

/** The programs that `findProgram` (`packages/kit/src/isolation/program.ts`) is asked for. */
const PROGRAMS = [
  "packages/sandbox/src/adapters/local/runner.ts",
  "packages/media/src/adapters/embedded/render/main.ts",
];
/** What they read beside their modules. */
const DATA = ["packages/sandbox/src/adapters/local/wasm/openpyxl.zip"];
const IMPORT = /(\b(?:from|import)\s*\(?\s*")(\.[^"]+)\.ts"/g;

/** Writes the programs, and all modules that they import, without their types into the folder `programs`. */
export function buildPrograms(distDir: string): void {
  const folder = join(projectRoot, distDir, "programs");
  rmSync(folder, { recursive: true, force: true });
  const files = new Set(PROGRAMS);
  for (const file of files) {
    const code = stripTypeScriptTypes(readFileSync(join(projectRoot, file), "utf8"));
    const target = join(folder, file.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, code.replaceAll(IMPORT, '$1$2.js"'));
    for (const [, , path] of code.matchAll(IMPORT)) files.add(join(dirname(file), `${path}.ts`));
  }
  for (const file of DATA) cpSync(join(projectRoot, file), join(folder, file));
  // Next declares the modules of its folder as CommonJS.
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
}
