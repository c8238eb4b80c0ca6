/**
 * Program: writes `lib/openapi/generated`, which names every contract of `lib` and every file of recorded examples.
 * It fails when a file was out of date, because they are committed.
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { projectRoot } from "./project-root.ts";

const FOLDER = join(projectRoot, "lib/openapi/generated");

/** Returns the name of an export for a path. */
const nameOf = (path: string): string =>
  path.replaceAll(/[^a-z]+([a-z]?)/g, (_, letter: string) => letter.toUpperCase());

function write(name: string, pattern: string, lineOf: (file: string) => string): void {
  const files = globSync(pattern, { cwd: projectRoot }).sort();
  const text = ["// Written by scripts/generate-registry.ts.", ...files.map(lineOf), ""].join("\n");
  const target = join(FOLDER, name);
  if (existsSync(target) && readFileSync(target, "utf8") === text) return;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(target, text);
  console.error(`${target} was out of date and has been written again: commit it.`);
  process.exitCode = 1;
}

write("contracts.ts", "lib/**/{contract,*-contract}.ts", (file) => {
  const path = file.slice("lib/".length);
  const name = nameOf(path.replace(/[/-]?contract\.ts$/, ""));
  return `export * as ${name} from "../../${path}";`;
});
write("examples.ts", "docs/api/examples/*.json", (file) => {
  const name = nameOf(basename(file, ".json"));
  return `export { default as ${name} } from "../../../${file}" with { type: "json" };`;
});
