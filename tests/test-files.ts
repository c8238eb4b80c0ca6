/** The needs of a test file, derived from its imports: which files are quick, and which run first. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { projectRoot } from "../scripts/project-root.ts";

const IMPORT = /(?:from|import)\s*\(?\s*"((?:\.|@\/)[^"]+\.m?tsx?)"/g;
const BROWSER = /\bplaywright-core\b/;
const OWN_SERVERS =
  /\b(startWorkspace|startOwnParts|startServer|startEmbedded|npmRun|buildPackage|installPacked|createLocalProvider|createMediaFolder)\(/;
/** Slower than a test of functions: a database, a server, a sandbox's process, measuring. */
const SLOW =
  /\binject\("|\b(startEmbedded|runPostgres|runNext|create(Local|System)Provider|createRenderer|expectNoStall)\(/;

/** In files about what Next.js, the production server or the launcher do. */
const BUILT = /^\/\/ Needs a build\.$|\bnpmRun\(/m;

/** Folders whose tests speak to a server, or to its database. */
const SOURCES = /^(?:tests\/(?:adapters|api|core|security)|supabase\/tests)\//;

const sources = new Map<string, string>();

function sourceOf(file: string): string {
  const known = sources.get(file);
  if (known !== undefined) return known;
  // Some are generated, and not there yet.
  const source = existsSync(file) ? readFileSync(file, "utf8") : "";
  sources.set(file, source);
  return source;
}

const importsOf = (file: string): string[] =>
  [...sourceOf(file).matchAll(IMPORT)].map(([, path = ""]) =>
    path.startsWith("@/") ? join(projectRoot, path.slice(2)) : resolve(dirname(file), path),
  );

/**
 * Returns whether a test file, or a file that it imports from outside of the given folders,
 * contains the pattern.
 */
function reaches(
  file: string,
  pattern: RegExp,
  except: readonly string[] = ["lib", "packages"],
): boolean {
  const left = except.map((folder) => join(projectRoot, folder) + sep);
  const seen = new Set([file]);
  for (const reached of seen) {
    if (pattern.test(sourceOf(reached))) return true;
    for (const imported of importsOf(reached)) {
      if (!left.some((folder) => imported.startsWith(folder))) seen.add(imported);
    }
  }
  return false;
}

/**
 * Returns the test files that need no browser and no build: tests of functions and of the given packages, or tests
 * that need a server, which runs from its sources.
 */
export const quickFiles = (kind: "functions" | "api"): string[] =>
  globSync("{tests,supabase/tests,packages/*/tests}/**/*.test.ts", { cwd: projectRoot }).filter(
    (file) => {
      const path = join(projectRoot, file);
      if (file.endsWith(".soak.test.ts") || reaches(path, BROWSER)) return false;
      const isAsked = (name: string) => name.startsWith("packages/") && file.startsWith(name);
      const isFunctions = process.argv.some(isAsked) || !reaches(path, SLOW);
      if (kind === "functions") return isFunctions;
      return !isFunctions && SOURCES.test(file) && !BUILT.test(sourceOf(path));
    },
  );

const TESTS = join(projectRoot, "tests") + sep;

/** The length of a test file and of the suites that it imports. */
function lengthOf(file: string): number {
  const seen = new Set([file]);
  for (const suite of seen) {
    for (const path of importsOf(suite)) {
      if (path.startsWith(TESTS) && !path.startsWith(`${TESTS}support`)) seen.add(path);
    }
  }
  return [...seen].reduce((sum, path) => sum + sourceOf(path).length, 0);
}

/** Runs the longest files first, or one of them might remain when the others have ended. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      if (reaches(moduleId, OWN_SERVERS, ["lib", "packages", "scripts", "tests/support"])) return 0;
      return reaches(moduleId, BROWSER) ? 1 : 2;
    };
    return files.toSorted(
      (one, other) => rank(one) - rank(other) || lengthOf(other.moduleId) - lengthOf(one.moduleId),
    );
  }
}
