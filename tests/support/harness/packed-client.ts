/** The client as npm publishes it, in a folder that has nothing but it and its dependencies. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";
import { packClient } from "../../../scripts/client/pack-client.ts";
import { projectRoot } from "../../../scripts/project-root.ts";

const run = promisify(execFile);
const manifest = z.object({ name: z.string(), dependencies: z.record(z.string(), z.string()) });

type ClientModule = typeof import("../../../packages/client/src/index.ts");
export type PackedClient = Awaited<ReturnType<typeof installPackedClient>>;

export async function installPackedClient() {
  const folder = await mkdtemp(join(tmpdir(), "client-"));
  const archive = await packClient(join(folder, "packed"));
  const home = join(folder, "node_modules/agent-platform-client");
  await mkdir(home, { recursive: true });
  await run("tar", ["-xzf", archive, "-C", home, "--strip-components=1"]);
  const { name, dependencies } = manifest.parse(
    JSON.parse(await readFile(join(home, "package.json"), "utf8")),
  );
  for (const dependency of Object.keys(dependencies)) {
    const link = join(folder, "node_modules", dependency);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(projectRoot, "node_modules", dependency), link);
  }
  const index = pathToFileURL(join(home, "dist/index.js")).href;
  return {
    name,
    archive,
    folder,
    home,
    module: (await import(/* @vite-ignore */ index)) as ClientModule,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

export interface CommandOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line in a folder of its own. */
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
