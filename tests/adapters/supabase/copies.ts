import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, vi } from "vitest";
import { freePort, nextEnv } from "../../../scripts/run-next.ts";
import { servers } from "../../support/harness/servers.ts";

const projectRoot = join(import.meta.dirname, "../../..");

/** A copy of the whole product, started as a person starts it. */
export type Copy = {
  npm: ChildProcess;
  url: string;
  output(): string;
  /** The key it printed, once it is ready. */
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

/** `npm start` or `npm run dev` on a free port. */
export async function npmRun(
  script: "start" | "dev",
  dataDir: string,
  host?: string,
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
        HOST: host,
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
    url: `http://${host ?? "127.0.0.1"}:${port}`,
    output: () => output,
    exit: new Promise((resolve) => npm.once("exit", resolve)),
    key: () =>
      vi.waitFor(
        () => {
          expect(output).toContain("Stream a turn");
          return /\bap_[0-9A-Za-z]{49}\b/.exec(output)?.[0] ?? "";
        },
        { timeout: 150_000, interval: 100 },
      ),
  };
  copies.push(copy);
  servers.add(copy.url);
  return copy;
}

/** Ctrl-C: the terminal signals the whole foreground group. */
export function interrupt({ npm }: Copy): void {
  if (npm.pid !== undefined && npm.exitCode === null && npm.signalCode === null) {
    process.kill(-npm.pid, "SIGINT");
  }
}

/** For `afterEach`: ends what a test has left running and removes its data. */
export async function endCopies(): Promise<void> {
  for (const copy of copies) {
    interrupt(copy);
    await copy.exit;
  }
  copies = [];
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders = [];
}
