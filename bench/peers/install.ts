/**
 * Installs the peers from the npm registry, in the exact versions of `apps/package.json`, into a
 * folder that git ignores, and builds them where needed. They are not dependencies of the project.
 * A later run finds them there, unless a version or an application has changed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../../scripts/project-root.ts";

const apps = join(import.meta.dirname, "apps");
export const peersFolder = join(projectRoot, ".data-peers");
const record = join(peersFolder, "installed.json");

/** The environment of a peer's process: third-party code, so none of the settings. */
export const peerEnv = {
  PATH: process.env.PATH ?? "",
  HOME: process.env.HOME ?? "",
  MASTRA_TELEMETRY_DISABLED: "1",
  LANGGRAPH_CLI_NO_ANALYTICS: "1",
  LANGSMITH_TRACING: "false",
};

export const versions: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(apps, "package.json"), "utf8"),
).dependencies;

/** @throws Error when the registry cannot be reached or a peer does not build */
export async function installPeers(): Promise<void> {
  const wanted = JSON.stringify(sources());
  if (existsSync(record) && readFileSync(record, "utf8") === wanted) return;
  console.log("Installing the peers. This takes a minute or two and happens only once…");
  rmSync(peersFolder, { recursive: true, force: true });
  mkdirSync(peersFolder, { recursive: true });
  cpSync(apps, peersFolder, { recursive: true });
  await npmInstall();
  await run(process.execPath, [join(peersFolder, "node_modules/mastra/dist/index.js"), "build"], {
    cwd: join(peersFolder, "mastra"),
    failure: "The Mastra application does not build. See the output above.",
  });
  writeFileSync(record, wanted);
}

function sources(): Record<string, string> {
  const files = readdirSync(apps, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    files
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
      .map((file) => [file, readFileSync(file, "utf8")]),
  );
}

async function npmInstall(): Promise<void> {
  const npm = process.env.npm_execpath;
  const [command, ...first] = npm ? [process.execPath, npm] : ["npm"];
  // LangGraph's server names older peer dependencies than its own library has.
  const flags = ["--legacy-peer-deps", "--no-package-lock", "--no-audit", "--no-fund"];
  await run(command ?? "npm", [...first, "install", ...flags], {
    cwd: peersFolder,
    failure:
      "The peers could not be installed. They come from the npm registry: check that it can be " +
      "reached, and see npm's output above.",
  });
}

async function run(command: string, args: string[], options: { cwd: string; failure: string }) {
  const child = spawn(command, args, {
    cwd: options.cwd,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...peerEnv, npm_config_ignore_scripts: "true" },
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(options.failure);
}
