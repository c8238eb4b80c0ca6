/** A package in a separate folder, and its commands on a machine without this repository. */
import { type ChildProcess, spawn } from "node:child_process";
import { appendFile, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, vi } from "vitest";
import { freePort } from "../../scripts/free-port.ts";
import { registerSecret } from "../support/secrets/register.ts";

export type Settings = Readonly<Record<string, string>>;

export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** A command that runs. */
export interface Running {
  readonly child: ChildProcess;
  /** The output so far. */
  output(): string;
  readonly ended: Promise<Ended>;
}

/** Only the system's programs, without the repository's Node. */
const SYSTEM_PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin";

export async function newFolder(): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), "package-")));
}

export const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true });

/** Starts a command in a folder. */
function start(argv: readonly string[], cwd: string, settings: Settings): Running {
  const [program = "", ...args] = argv;
  // Its commands are started a dozen times, and compile the same modules.
  const NODE_COMPILE_CACHE = join(inject("stack").records, "compiled");
  const system = { PATH: SYSTEM_PATH, NODE_COMPILE_CACHE };
  const env = { ...system, ...settings } as unknown as NodeJS.ProcessEnv;
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (piece: string) => {
      output += piece;
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output }));
  });
  // Searched for secrets when all tests have ended.
  void ended.then(() => {
    const log = output.replace(/\bap_[0-9A-Za-z]{49}\b/g, "<the printed key>");
    return appendFile(join(inject("stack").records, "logs", `package-${child.pid}.log`), log);
  });
  return { child, output: () => output, ended };
}

export const run = (argv: readonly string[], cwd: string, settings: Settings): Promise<Ended> =>
  start(argv, cwd, settings).ended;

/** Runs `bin/key`, which prints the key of an account. */
export async function makeKey(
  argv: readonly string[],
  cwd: string,
  settings: Settings,
): Promise<string> {
  const { output } = await run([...argv, "--email", "someone@example.com"], cwd, settings);
  const key = /\bap_[0-9A-Za-z]{49}\b/.exec(output)?.[0];
  if (key === undefined) throw new Error(output);
  return registerSecret(key, "API key");
}

/** Starts a server on a free port and waits until it says that it is ready. */
export async function serve(
  argv: readonly string[],
  cwd: string,
  settings: Settings,
): Promise<Running & { url: string }> {
  const port = await freePort();
  const server = start(argv, cwd, {
    LOG_LEVEL: "warn",
    HOST: "127.0.0.1",
    WEB_CONCURRENCY: "2",
    ...settings,
    PORT: String(port),
  });
  let exit: Ended | undefined;
  void server.ended.then((ended) => {
    exit = ended;
  });
  const ready = () => expect(exit?.output ?? server.output()).toContain("Ready on");
  await vi.waitFor(ready, { timeout: 60_000, interval: 100 });
  return { ...server, url: `http://127.0.0.1:${port}` };
}
