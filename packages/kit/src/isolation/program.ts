import { existsSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { processWide, setProcessWide } from "../process-wide.ts";
import { runtimePath } from "../runtime-path.ts";

/** A program that Node runs in a separate process, outside of the server's bundle. */
interface Program {
  readonly path: string;
  /** The folders that it loads its modules from, without its packages. */
  readonly code: readonly string[];
}

/**
 * Lets this process start programs without their types, as the build has written them: a process that removes the
 * types itself takes almost twice the processor time to start.
 * @param folder of `scripts/build-programs.ts`; without it, sources are used
 */
export function setBuiltPrograms(folder: string): void {
  if (existsSync(folder)) setProcessWide("programs", realpathSync(folder));
}

/**
 * Returns the built program if this process may start it, otherwise its sources.
 * @param name the path of the program from the root of the project, without an extension
 * @param folders the folders with its sources, from the root of the project
 */
export function findProgram(name: string, folders: readonly string[]): Program {
  const built = processWide<string | null>("programs", () => null);
  if (built !== null) {
    // Packages are first looked up here, where Next keeps links to some of them.
    const packages = runtimePath(dirname(built), "node_modules");
    const code = [built, packages].filter((folder) => existsSync(folder));
    return { path: runtimePath(built, `${name}.js`), code };
  }
  // Not import.meta.url: the server is bundled, the program is not.
  const root = realpathSync(process.cwd());
  const code = folders.map((folder) => runtimePath(root, folder));
  return { path: runtimePath(root, `${name}.ts`), code };
}
