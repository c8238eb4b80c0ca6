import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { projectRoot } from "./project-root.ts";

/** The programs that `findProgram` (`packages/kit/src/isolation/program.ts`) is asked for. */
const PROGRAMS = [
  "packages/sandbox/src/adapters/local/runner.ts",
  "packages/media/src/adapters/embedded/render/main.ts",
];
/** Data files that they read beside their modules. */
const DATA = ["packages/sandbox/src/adapters/local/wasm/openpyxl.zip"];
const IMPORT = /(?<=\b(?:from|import)\s*\(?\s*")(\.[^"]+\.ts|@platform\/[^"]+)(?=")/g;

/** Writes the programs, and all modules that they import, without their types into the folder `programs`. */
export function buildPrograms(distDir: string): void {
  const folder = join(projectRoot, distDir, "programs");
  rmSync(folder, { recursive: true, force: true });
  const files = new Set(PROGRAMS);
  for (const file of files) {
    const code = stripTypeScriptTypes(readFileSync(join(projectRoot, file), "utf8"));
    const target = join(folder, file.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(target), { recursive: true });
    const fileOf = (specifier: string) =>
      specifier.startsWith(".")
        ? join(dirname(file), specifier)
        : relative(projectRoot, fileURLToPath(import.meta.resolve(specifier)));
    const pathOf = (specifier: string) =>
      `./${relative(dirname(file), fileOf(specifier)).replace(/\.ts$/, ".js")}`;
    writeFileSync(target, code.replaceAll(IMPORT, pathOf));
    for (const [specifier] of code.matchAll(IMPORT)) files.add(fileOf(specifier));
  }
  for (const file of DATA) cpSync(join(projectRoot, file), join(folder, file));
  // Next declares the modules of its folder as CommonJS.
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
}
