import { globSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Kept: a person starts `npm run dev` again on the default port, which then need not compile everything. */
const KEPT = ".next-dev-3000";

/** Removes the builds in `root` of development servers that no longer run, such as builds of tests. */
export function removeStaleBuilds(root: string): void {
  for (const build of globSync(".next-dev-*", { cwd: root })) {
    if (build !== KEPT && !isRunning(join(root, build))) {
      rmSync(join(root, build), { recursive: true, force: true });
    }
  }
}

/** `next dev` names its process in a file. */
function isRunning(build: string): boolean {
  try {
    const { pid } = JSON.parse(readFileSync(join(build, "dev", "lock"), "utf8"));
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
