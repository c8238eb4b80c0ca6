/** The packages as npm publishes them, in a folder that has nothing but one and its dependencies. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";
import { packPackage } from "../../../scripts/pack-package.ts";
import { projectRoot } from "../../../scripts/project-root.ts";

const run = promisify(execFile);
const versions = z.record(z.string(), z.string());
const manifest = z.object({
  name: z.string(),
  dependencies: versions,
  peerDependencies: versions.default({}),
});

type ClientModule = typeof import("../../../packages/client/src/index.ts");
export type PackedClient = Awaited<ReturnType<typeof installPackedClient>>;

export async function installPackedClient() {
  const installed = await installPacked("client");
  const index = pathToFileURL(join(installed.home, "dist/index.js")).href;
  return { ...installed, module: (await import(/* @vite-ignore */ index)) as ClientModule };
}

export async function installPacked(source: Parameters<typeof packPackage>[0]) {
  const folder = await mkdtemp(join(tmpdir(), `${source}-`));
  const archive = await packPackage(source, join(folder, "packed"));
  const home = join(folder, "node_modules", `agent-platform-${source}`);
  await mkdir(home, { recursive: true });
  await run("tar", ["-xzf", archive, "-C", home, "--strip-components=1"]);
  const { name, dependencies, peerDependencies } = manifest.parse(
    JSON.parse(await readFile(join(home, "package.json"), "utf8")),
  );
  for (const dependency of Object.keys({ ...dependencies, ...peerDependencies })) {
    const link = join(folder, "node_modules", dependency);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(projectRoot, "node_modules", dependency), link);
  }
  const remove = () => rm(folder, { recursive: true, force: true });
  return { name, archive, folder, home, remove };
}

export interface CommandOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line in a separate folder. */
export function runCommand(
  { home, folder }: Pick<PackedClient, "home" | "folder">,
  args: readonly string[],
  { env, input = "" }: { env: Readonly<Record<string, string>>; input?: string },
): Promise<CommandOutcome> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [join(home, "dist/cli/main.js"), ...args],
      { cwd: folder, env: { NODE_ENV: "production", XDG_CONFIG_HOME: folder, ...env } },
      (_error, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}
