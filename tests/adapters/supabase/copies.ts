import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, vi } from "vitest";
import { freePort } from "../../../scripts/free-port.ts";
import { nextEnv } from "../../../scripts/run-next.ts";
import { copyTemplate } from "../../support/harness/database-template.ts";
import { servers } from "../../support/harness/servers.ts";

const projectRoot = join(import.meta.dirname, "../../..");

/** A copy of the whole product, started as a person starts it. */
export type Copy = {
  npm: ChildProcess;
  url: string;
  output(): string;
  /** Resolves with the output so far once the program reports that it is ready. */
  ready(): Promise<string>;
  /** The key that `npm run dev` printed, once it is ready. */
  key(): Promise<string>;
  exit: Promise<number | null>;
};

let folders: string[] = [];
let copies: Copy[] = [];

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "launcher-"));
  folders.push(folder);
  return folder;
}

/** A data directory that has been started before, with nothing in it but the tables. */
export function newDataDir(): string {
  const folder = newFolder();
  copyTemplate(inject("stack").template, folder);
  return folder;
}

/** `npm start` or `npm run dev` on a free port, with more settings. */
export async function npmRun(
  script: "start" | "dev",
  dataDir: string,
  more: Readonly<{ HOST?: string; WEB_CONCURRENCY?: string }> = {},
): Promise<Copy> {
  const port = await freePort();
  const { distDir } = inject("stack");
  const npm = spawn("npm", ["run", script], {
    cwd: projectRoot,
    detached: true,
    env: nextEnv(
      {
        PORT: String(port),
        DATA_DIR: dataDir,
        NEXT_DIST_DIR: distDir,
        LOG_LEVEL: "error",
        ...more,
      },
      script,
    ),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [npm.stdout, npm.stderr]) {
    stream?.on("data", (piece: Buffer) => {
      output += piece;
    });
  }
  const copy: Copy = {
    npm,
    url: `http://${more.HOST ?? "127.0.0.1"}:${port}`,
    output: () => output,
    exit: new Promise((resolve) => npm.once("exit", resolve)),
    ready: () =>
      vi.waitFor(
        () => {
          expect(output).toContain("Ready on");
          return output;
        },
        { timeout: 400_000, interval: 100 },
      ),
    key: () =>
      vi.waitFor(
        () => {
          expect(output).toContain("Stream a turn");
          return /\bap_[0-9A-Za-z]{49}\b/.exec(output)?.[0] ?? "";
        },
        { timeout: 400_000, interval: 100 },
      ),
  };
  copies.push(copy);
  servers.add(copy.url);
  return copy;
}

/** Runs `npm run key` as a person would: its output, and its exit code. */
export async function npmRunKey(
  dataDir: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ output: string; exit: number | null; key: string | undefined }> {
  const npm = spawn("npm", ["run", "key", "--", ...args], {
    cwd: projectRoot,
    env: nextEnv({ DATA_DIR: dataDir, ...env }, "start"),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.on("data", (piece: Buffer) => {
      output += piece;
    });
  }
  const exit = await new Promise<number | null>((resolve) => npm.once("close", resolve));
  return { output, exit, key: /\bap_[0-9A-Za-z]{49}\b/.exec(output)?.[0] };
}

/** A key of a copy that runs in production, made by command. */
export async function makeKey(copy: Copy, dataDir: string): Promise<string> {
  await copy.ready();
  const { key, output } = await npmRunKey(dataDir, ["--email", "someone@example.com"]);
  if (key === undefined) throw new Error(output);
  return key;
}

/** Ctrl-C: the terminal signals the whole foreground group. */
export function interrupt({ npm }: Copy): void {
  if (npm.pid !== undefined && npm.exitCode === null && npm.signalCode === null) {
    process.kill(-npm.pid, "SIGINT");
  }
}

/** Ends the processes that the tests have left running, and removes their data. */
export async function endCopies(): Promise<void> {
  for (const copy of copies) {
    interrupt(copy);
    await copy.exit;
  }
  copies = [];
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders = [];
}

/** Whether something listens there. Of loopback, Linux has all addresses: 127.0.0.2 stands for others. */
export const listens = (host: string, url: string) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(Number(new URL(url).port), host);
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.unref();
  });

/** On Linux alone, 127.0.0.2 stands for the addresses of other networks. */
export async function expectListensBeyondLoopback(copy: Copy, expected: boolean): Promise<void> {
  expect(await listens("127.0.0.1", copy.url)).toBe(true);
  if (platform() === "linux") expect(await listens("127.0.0.2", copy.url)).toBe(expected);
}
