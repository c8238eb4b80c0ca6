import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildPrograms } from "./build-programs.ts";
import { projectRoot } from "./project-root.ts";
import { nextEnv } from "./run-next.ts";
import { runProgram } from "./run-program.ts";

const sources = [
  "app",
  "lib",
  "packages/agent/src",
  "packages/documents/src",
  "packages/kit/src",
  "packages/media/src",
  "packages/sandbox/src",
  "packages/skills/built-in",
  "packages/skills/src",
  "packages/world-postgres/src",
  "public",
  "next.config.ts",
  "postcss.config.mjs",
  "proxy.ts",
  "instrumentation.ts",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.base.json",
];
const sourceFile = /\.(ts|tsx|mjs|css|json|md|svg|png|ico|woff2?)$/;

/** Builds the application into `distDir`, unless the existing build is of the current sources. */
export async function ensureFreshBuild(distDir: string): Promise<void> {
  if (!isFresh(distDir)) await build(distDir);
}

/**
 * Builds the application into `distDir` if there is no build. Keeps a stale one, because another
 * process may be serving it.
 */
export async function ensureBuild(distDir: string): Promise<void> {
  if (!existsSync(join(projectRoot, distDir, "BUILD_ID"))) await build(distDir);
  else if (!isFresh(distDir)) {
    console.log("The build does not match the sources. Run `npm run build` to update it.");
  }
}

function isFresh(distDir: string): boolean {
  const stamp = join(projectRoot, distDir, "sources.sha256");
  return existsSync(stamp) && readFileSync(stamp, "utf8") === hashSources();
}

/** @throws Error when the build fails, whose output has been printed */
export async function build(distDir: string): Promise<void> {
  const hash = hashSources();
  const code = await runProgram(
    ["node_modules/next/dist/bin/next", "build"],
    nextEnv({ NEXT_DIST_DIR: distDir }, "build"),
  );
  if (code !== 0) throw new Error(`next build failed (${code}).`);
  buildPrograms(distDir);
  writeFileSync(join(projectRoot, distDir, "sources.sha256"), hash);
}

function hashSources(): string {
  const hash = createHash("sha256");
  const add = (path: string): void => {
    const full = join(projectRoot, path);
    if (!existsSync(full)) return;
    if (statSync(full).isDirectory()) {
      // The build itself generates `app/.well-known/workflow`.
      const names = readdirSync(full).filter((name) => name !== ".well-known");
      for (const name of names.sort()) add(join(path, name));
    } else if (sourceFile.test(path)) {
      hash.update(`${path}\0`).update(readFileSync(full)).update("\0");
    }
  };
  for (const source of sources) add(source);
  return hash.digest("hex");
}
